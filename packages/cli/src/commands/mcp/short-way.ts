import { longestRequest } from '@sallyport/contract/message-line';
import type { McpExchange } from './mcp-exchange.ts';
import type { LineEnd, LineParts, McpLine } from './mcp-line.ts';
import type { McpMessage } from './mcp-message.ts';

/** The session of MCP that a request belongs to. Undefined: each request of this client stands alone. */
export interface LineSession {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

const pauseMs = 30_000;
const methods: ReadonlySet<string | undefined> = new Set(['tools/call', 'ping']);

/**
 * Sends the requests that clients make most over a line of messages, once there is one. Opening it delays nobody: what
 * comes meanwhile is posted.
 */
export class ShortWay {
  readonly #exchange: Pick<McpExchange, 'openLine'>;
  readonly #write: LineParts['write'];
  #line: McpLine | undefined;
  /** The session that the line is for, or was asked for. */
  #session: string | undefined;
  #isOpening = false;
  #isClosed = false;
  /** A daemon without lines is not asked again at once. */
  #againAtMs = 0;

  constructor(exchange: Pick<McpExchange, 'openLine'>, write: LineParts['write']) {
    this.#exchange = exchange;
    this.#write = write;
  }

  /** Returns what cancels the request. Undefined: it was not sent, and must be posted. */
  send(
    { method, line: text, ids }: McpMessage,
    session: LineSession | undefined,
    onEnd: (end: LineEnd) => void,
  ): (() => void) | undefined {
    // A character of a string is at most three bytes.
    if (!methods.has(method) || ids.length !== 1 || 3 * text.length > longestRequest) return undefined;
    if (this.#line?.isOpen === true && this.#session === session?.id) return this.#line.send(text, onEnd);
    this.#open(session);
    return undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#line?.destroy();
  }

  #open(session: LineSession | undefined): void {
    if (this.#isOpening || this.#isClosed) return;
    const isAnother = this.#session !== session?.id;
    // One line is enough: what is too much for it is posted.
    if (!isAnother && (this.#line?.isConnected === true || Date.now() < this.#againAtMs)) return;
    this.#line?.retire();
    this.#line = undefined;
    this.#session = session?.id;
    this.#isOpening = true;
    this.#againAtMs = Date.now() + pauseMs;
    void this.#exchange.openLine(session?.headers ?? {}, this.#write).then((line) => this.#use(line));
  }

  #use(line: McpLine | undefined): void {
    this.#isOpening = false;
    this.#line = line;
    if (line !== undefined) this.#againAtMs = 0;
    if (this.#isClosed) line?.destroy();
  }
}
