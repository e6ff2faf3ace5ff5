/** What the bridge needs to know of a message; the rest goes through as it is. */
export interface McpMessage {
  /** As the client wrote it. */
  readonly line: string;
  /** Absent: the message is a response, or several messages at once. */
  readonly method?: string;
  /** Requests that want an answer: one, or all of a batch. */
  readonly ids: readonly (string | number)[];
  /** The request that the client does not want any more. */
  readonly cancelled?: string | number;
  /** The protocol that the message itself names: it stands alone, without a session. Absent: an older client. */
  readonly revision?: string;
  /** The tool, prompt or resource that is asked for. */
  readonly name?: string;
}

const revisionKey = 'io.modelcontextprotocol/protocolVersion';

/** Undefined: the line is no JSON. */
export function parseMcpMessage(line: string): McpMessage | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (Array.isArray(parsed)) return { line, ids: parsed.flatMap((each) => idsOf(fieldsOf(each))) };
  const message = fieldsOf(parsed);
  const { method } = message;
  if (typeof method !== 'string') return { line, ids: [] };
  const params = fieldsOf(message['params']);
  const revision = fieldsOf(params['_meta'])[revisionKey];
  const name = method === 'resources/read' ? params['uri'] : params['name'];
  const cancelled = method === 'notifications/cancelled' ? params['requestId'] : undefined;
  return {
    line,
    method,
    ids: idsOf(message),
    ...(typeof revision === 'string' ? { revision } : {}),
    ...(typeof name === 'string' ? { name } : {}),
    ...(isId(cancelled) ? { cancelled } : {}),
  };
}

/** The headers in which newer clients repeat what the message says. */
export function headersOf({ revision, method, name }: McpMessage): Record<string, string> {
  if (revision === undefined || method === undefined) return {};
  return {
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': encodeName(name) }),
  };
}

/** Headers take visible ASCII; everything else travels in base64, marked as such. */
function encodeName(name: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.startsWith('=?');
  return isPlain ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

function idsOf({ method, id }: Fields): readonly (string | number)[] {
  return typeof method === 'string' && isId(id) ? [id] : [];
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
