import type { IncomingHttpHeaders } from 'node:http2';

/** What a request begins with, in the form in which `node:http2` gives it. */
export interface RequestHead {
  /** Without a prototype, by names in lower case, the pseudo-headers with them. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Names and values in turn, as they were sent. */
  readonly raw: readonly string[];
  /** How long the body has to be. Undefined: not said, or a CONNECT, whose body has no length. */
  readonly contentLength: number | undefined;
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const fieldName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const authority = /^[!$%&'()*+,.:;=[\]_~0-9A-Za-z-]+$/;
const controlCharacter = /[\0-\x08\x0a-\x1f\x7f]/;

const pseudoHeaders: ReadonlyMap<string, RegExp> = new Map([
  [':method', token],
  [':scheme', /^[A-Za-z][A-Za-z0-9+.-]*$/],
  [':authority', authority],
  [':path', /^(?:\/[!-~\x80-\xff]*|\*)$/],
]);

/** Whether a value may stand behind a name that has rules of its own. */
const valueRules: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'].map(
    (name) => [name, () => false] as const,
  ),
  ['te', (value) => value.toLowerCase() === 'trailers'],
  ['host', (value) => authority.test(value)],
  ['content-length', isLength],
]);

/** Of these the first value counts, whatever follows. All others are lists. */
const singleValues: ReadonlySet<string> = new Set([
  ...['access-control-allow-credentials', 'access-control-max-age', 'access-control-request-method', 'age'],
  ...['authorization', 'content-encoding', 'content-language', 'content-location', 'content-md5', 'content-range'],
  ...['content-type', 'date', 'dnt', 'etag', 'expires', 'from', 'if-match', 'if-modified-since', 'if-none-match'],
  ...['if-range', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'range'],
  ...['referer', 'retry-after', 'tk', 'upgrade-insecure-requests', 'user-agent', 'x-content-type-options'],
]);

/** The rules of RFC 9113, sections 8.2 and 8.3. Undefined: the request is malformed, and its stream is to be reset. */
export function parseRequestHead(fields: readonly string[]): RequestHead | undefined {
  const headers = Object.create(null) as Headers;
  const regularFrom = takePseudoHeaders(fields, headers);
  if (regularFrom === undefined) return undefined;
  for (let at = regularFrom; at < fields.length; at += 2) {
    const [name = '', value = ''] = [fields[at], fields[at + 1]];
    if (!isRegular(name, value) || !addHeader(headers, name, value)) return undefined;
  }
  if (!hasTarget(headers)) return undefined;
  const length = headers[':method'] === 'CONNECT' ? undefined : headers['content-length'];
  return { headers, raw: fields, contentLength: length === undefined ? undefined : Number(length) };
}

/** Whether a second list, behind the body, is well formed. What frames or routes a request comes too late in it. */
export function checkTrailers(fields: readonly string[]): boolean {
  for (let at = 0; at < fields.length; at += 2) {
    const [name = '', value = ''] = [fields[at], fields[at + 1]];
    if (!isRegular(name, value) || name === 'content-length' || name === 'host') return false;
  }
  return true;
}

/** It has no prototype: names such as __proto__ are names like all others. */
type Headers = Record<string, string | string[]>;

/** Where the regular headers begin. */
function takePseudoHeaders(fields: readonly string[], headers: Headers): number | undefined {
  for (let at = 0; at < fields.length; at += 2) {
    const [name = '', value = ''] = [fields[at], fields[at + 1]];
    if (!name.startsWith(':')) return at;
    if (pseudoHeaders.get(name)?.test(value) !== true || headers[name] !== undefined) return undefined;
    headers[name] = value;
  }
  return fields.length;
}

function hasTarget(headers: Headers): boolean {
  const { ':method': method, ':scheme': scheme, ':path': path, ':authority': target, host } = headers;
  if (method === undefined) return false;
  if (method === 'CONNECT') return scheme === undefined && path === undefined && target !== undefined;
  if (scheme === undefined || path === undefined) return false;
  if (path === '*' && method !== 'OPTIONS') return false;
  return target !== undefined || host !== undefined;
}

function isRegular(name: string, value: string): boolean {
  const rule = valueRules.get(name);
  if (rule !== undefined) return rule(value);
  return fieldName.test(name) && !controlCharacter.test(value) && !hasSpaceAtEdge(value);
}

function hasSpaceAtEdge(value: string): boolean {
  return isSpace(value.charCodeAt(0)) || isSpace(value.charCodeAt(value.length - 1));
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** False if the header may not be there once more. */
function addHeader(headers: Headers, name: string, value: string): boolean {
  const existing = headers[name];
  if (existing === undefined) headers[name] = name === 'set-cookie' ? [value] : value;
  else if (Array.isArray(existing)) existing.push(value);
  else if (name === 'host' || name === 'content-length') return false;
  else if (!singleValues.has(name)) headers[name] = `${existing}${name === 'cookie' ? '; ' : ', '}${value}`;
  return true;
}

const largestLength = 2n ** 63n - 1n;

function isLength(value: string): boolean {
  if (!/^[0-9]+$/.test(value)) return false;
  if (value.length < 19) return true;
  const digits = value.replace(/^0+/, '');
  return digits.length <= 19 && BigInt(digits) <= largestLength;
}
