import type { IncomingMessage } from 'node:http';

/** Meant for the next machine only, which is the gate. `expect` was answered by the gate already. */
const ownOfEachHop: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers to pass on, names and values in turn, without those of this hop and those that `Connection` names. */
export function keepEndToEnd({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  // The sender cannot remove the length of the body or the host.
  for (const needed of ['host', 'content-length']) named.delete(needed);
  return pairs(rawHeaders)
    .filter(([name]) => !ownOfEachHop.has(name.toLowerCase()) && !named.has(name.toLowerCase()))
    .flat();
}

/** All values of a header, as they came: two where one is expected are an attack. */
export function valuesOf({ rawHeaders }: IncomingMessage, wanted: string): readonly string[] {
  return pairs(rawHeaders)
    .filter(([name]) => name.toLowerCase() === wanted)
    .map(([, value]) => value);
}

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? '']);
}
