/** Headers of which a request has one at most. Two programs on its way could each believe another one. */
const singular = new Set([
  ...[':authority', 'host', 'origin', 'authorization', 'content-type', 'content-length', 'content-encoding'],
  ...['transfer-encoding', 'traceparent', 'grpc-timeout', 'connect-timeout-ms', 'mcp-session-id'],
]);

/** The name of a header that is given twice although it decides something, or undefined. */
export function findRepeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!singular.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}
