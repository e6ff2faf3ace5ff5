import { StringDecoder } from 'node:string_decoder';
import type { Target } from '@sallyport/contract/http-transport';
import { describeTarget } from '../../client/choose-caller.ts';
import { McpConnection } from './mcp-connection.ts';
import type { HttpAnswer } from './mcp-connection.ts';
import { McpLine } from './mcp-line.ts';
import type { LineParts } from './mcp-line.ts';

/** Where the daemon is, and who asks. */
export interface McpTarget {
  readonly target: Target;
  readonly credential: string;
  /** Where the client works, without links. */
  readonly folder: string;
  /** For requests that say nothing of a trace themselves. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface McpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  /** One message of JSON-RPC, as the client wrote it. */
  readonly body?: string;
  /** Aborting closes the connection, by which the daemon cancels the call. */
  readonly signal: AbortSignal;
}

/** The daemon's answer: its messages come one by one, and are waited for. They must be read to the end. */
export interface McpAnswer {
  readonly status: number;
  readonly sessionId: string | undefined;
  readonly messages: AsyncIterable<string>;
}

const mostMessageBytes = 64 * 1024 * 1024;

/** Speaks Streamable HTTP with the daemon. Connections are kept for further requests, each for one at a time. */
export class McpExchange {
  readonly #target: Target;
  readonly #head: string;
  readonly #open = new Set<McpConnection>();
  readonly #free: McpConnection[] = [];

  constructor({ target, credential, folder, headers }: McpTarget) {
    this.#target = target;
    this.#head = writeHeaders({
      host: 'path' in target ? 'localhost' : new URL(describeTarget(target)).host,
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${credential}`,
      'sallyport-folder': encodeURIComponent(folder),
      ...headers,
    });
  }

  /** Rejects with the error of the system, and when the signal aborts. */
  async send({ method, headers, body = '', signal }: McpRequest): Promise<McpAnswer> {
    signal.throwIfAborted();
    const sent =
      body === '' ? {} : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` };
    const request = `${method} /mcp HTTP/1.1\r\n${this.#head}${writeHeaders({ ...sent, ...headers })}\r\n${body}`;
    return describeAnswer(await this.#take().ask(request, signal));
  }

  /** A line for the messages that these headers are for. Undefined: the daemon has none for us. */
  openLine(headers: Readonly<Record<string, string>>, write: LineParts['write']): Promise<McpLine | undefined> {
    return McpLine.open({ target: this.#target, headers: this.#head + writeHeaders(headers), write });
  }

  close(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #take(): McpConnection {
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) if (free.isOpen) return free;
    const opened: McpConnection = new McpConnection(this.#target, {
      onFree: () => this.#free.push(opened),
      onClose: () => this.#open.delete(opened),
    });
    this.#open.add(opened);
    return opened;
  }
}

/** Throws TypeError for what would end a header: part of them comes from the client. */
function writeHeaders(headers: Readonly<Record<string, string>>): string {
  let text = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!/^[\t\x20-\x7e]*$/.test(value)) throw new TypeError(`${name} cannot be sent as a header`);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

function describeAnswer({ status, headers, body }: HttpAnswer): McpAnswer {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  return { status, sessionId: headers.get('mcp-session-id'), messages: isStream ? readEvents(body) : readWhole(body) };
}

async function* readWhole(body: AsyncGenerator<Buffer>): AsyncGenerator<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes = checked(bytes + part.length);
    parts.push(part);
  }
  if (bytes > 0) yield (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString();
}

/** The data of each event, which is one message. Comments only keep the connection alive. */
async function* readEvents(body: AsyncGenerator<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder();
  let text = '';
  for await (const chunk of body) {
    const events = (text + decoder.write(chunk)).split('\n\n');
    text = events.pop() ?? '';
    checked(text.length);
    for (const event of events) {
      const data = event
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart());
      if (data.length > 0) yield data.join('\n');
    }
  }
}

function checked(length: number): number {
  if (length > mostMessageBytes) throw new Error('the daemon sent a message that is too long');
  return length;
}
