/** A whole request of the one shape that needs no HTTP parser. */
export interface PlainRequest {
  readonly path: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The first part of such a request, as it was read before. */
export interface PlainHead extends Pick<PlainRequest, 'path' | 'headers'> {
  readonly bytes: Buffer;
  readonly bodyLength: number;
}

const longestHead = 4096;
/** What anyone may send without a credential; a longer body is not for here. */
const longestBody = 64 * 1024;
const requestLine = /^POST (\/[A-Za-z0-9._/-]{1,200}) HTTP\/1\.1$/;
/** One space after the colon, printable ASCII, none of it at the edges. */
const headerLine = /^([A-Za-z-]{1,40}): ([!-~](?:[ -~]{0,1998}[!-~])?)$/;
const bodyLength = /^(?:0|[1-9][0-9]{0,5})$/;

/** All that may be there, and what it has to say. Whatever else a request brings, HTTP decides. */
const known: Readonly<Record<string, (value: string) => boolean>> = {
  host: () => true,
  authorization: () => true,
  'content-type': (value) => value === 'application/json',
  'content-length': (value) => bodyLength.test(value) && Number(value) <= longestBody,
  connection: (value) => value === 'keep-alive',
  'connect-protocol-version': (value) => value === '1',
  traceparent: () => true,
  tracestate: () => true,
  accept: () => true,
  'accept-encoding': () => true,
  'accept-language': () => true,
  'user-agent': () => true,
  // Of `fetch`, which every client of MCP in Node uses. No page can leave it out or choose it, and nothing depends on it.
  'sec-fetch-mode': () => true,
  'mcp-session-id': () => true,
  'mcp-protocol-version': () => true,
  'mcp-method': () => true,
  'mcp-name': () => true,
  'sallyport-folder': () => true,
};

/**
 * Reads a request that is whole and alone in one chunk and has exactly this shape: POST, a plain path, HTTP/1.1, known
 * headers that each stand there once, a length. Undefined for everything else: no byte of it has been interpreted then.
 */
export function readPlainRequest(
  chunk: Buffer,
  before?: PlainHead,
): (PlainRequest & { readonly head: PlainHead }) | undefined {
  const head = before !== undefined && beginsWith(chunk, before.bytes) ? before : readHead(chunk);
  if (head === undefined || chunk.length !== head.bytes.length + head.bodyLength) return undefined;
  return { path: head.path, headers: head.headers, body: chunk.subarray(head.bytes.length), head };
}

function beginsWith(chunk: Buffer, bytes: Buffer): boolean {
  return chunk.length >= bytes.length && chunk.compare(bytes, 0, bytes.length, 0, bytes.length) === 0;
}

function readHead(chunk: Buffer): PlainHead | undefined {
  const end = chunk.indexOf('\r\n\r\n');
  if (end < 0 || end > longestHead) return undefined;
  const [first = '', ...lines] = chunk.toString('latin1', 0, end).split('\r\n');
  const path = requestLine.exec(first)?.[1];
  if (path === undefined) return undefined;
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of lines) {
    const [, name = '', value = ''] = headerLine.exec(line) ?? [];
    const lower = name.toLowerCase();
    if (!Object.hasOwn(known, lower) || known[lower]?.(value) !== true || headers[lower] !== undefined)
      return undefined;
    headers[lower] = value;
  }
  const { host, 'content-length': length, 'content-type': type } = headers;
  if (host === undefined || length === undefined || type === undefined) return undefined;
  // A copy: the chunk is a part of a larger piece of memory, which this would keep.
  return { path, headers, bytes: Buffer.from(chunk.subarray(0, end + 4)), bodyLength: Number(length) };
}
