import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The messages of the answer, whether they came as JSON or as events. */
  readonly messages: readonly RawMessage[];
}

export interface RawMessage {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface RawRequest {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** One request as somebody would write it who follows no SDK. */
export function sendRaw(url: URL, { method = 'POST', token, headers, body }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        agent: false,
        headers: {
          accept: 'application/json, text/event-stream',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (data: string) => (text += data));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            messages: readMessages(text, response.headers['content-type'] ?? ''),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function readMessages(text: string, type: string): readonly RawMessage[] {
  if (type.startsWith('application/json')) return [JSON.parse(text) as RawMessage].flat();
  const events = text.split('\n').filter((line) => line.startsWith('data: '));
  return events.map((line) => JSON.parse(line.slice('data: '.length)) as RawMessage);
}

export const revision = '2026-07-28';

/** A request of the newer protocol, with the headers that repeat it. */
export function modernRequest(method: string, params: Readonly<Record<string, unknown>> = {}): RawRequest {
  const { name, _meta: own = {} } = params as { readonly name?: unknown; readonly _meta?: object };
  const meta = {
    ...own,
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    headers: {
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  };
}

export const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

/** Opens a session as an older client does, and returns its id. */
export async function openLegacySession(url: URL, token: string): Promise<string> {
  const { status, headers, text } = await sendRaw(url, { token, body: initialize });
  if (status !== 200) throw new Error(text);
  return String(headers['mcp-session-id']);
}
