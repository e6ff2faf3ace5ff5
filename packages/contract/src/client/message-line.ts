import { isUtf8 } from 'node:buffer';

/**
 * How `sallyport mcp` carries calls of its client: many over one connection, which begins as a request of HTTP and is
 * upgraded to this. What of HTTP belongs to each message (who asks, from which folder, in which session of MCP) is said
 * once, in that request.
 *
 * A frame is a line of UTF-8: a number that the bridge chose, a mark, and, after some marks, one message of JSON-RPC.
 */
export const messageLine = { path: '/mcp/messages', protocol: 'sallyport-messages/1' } as const;

export const marks = {
  /** A request, and the answer to it, which is the last frame of its number. */
  message: '=',
  /** From the daemon: it says this before it answers. */
  news: '+',
  /** From the daemon: nothing has happened, and the request must be posted. */
  declined: '-',
  /** From the bridge: its client wants no answer any more. From the daemon: there will be none. */
  ended: '!',
} as const;

type Mark = (typeof marks)[keyof typeof marks];

/** The longest request; longer ones are posted. It is what the daemon reads of anybody. */
export const longestRequest = 64 * 1024;
/** Requests without an answer on one line; more are posted. */
export const mostRequests = 256;

export interface Frame {
  readonly number: number;
  readonly mark: Mark;
  readonly json: string;
}

const mostDigits = 15;

/** Undefined: the line is no frame. */
export function readFrame(line: string): Frame | undefined {
  let [number, at] = [0, 0];
  for (; at < mostDigits; at++) {
    const digit = line.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) break;
    number = 10 * number + digit;
  }
  const mark = line[at];
  if (at === 0 || (mark !== '=' && mark !== '+' && mark !== '-' && mark !== '!')) return undefined;
  return { number, mark, json: line.slice(at + 1) };
}

export function writeFrame(number: number, mark: Mark, json = ''): string {
  return `${number}${mark}${json}\n`;
}

const newline = 0x0a;

/** Puts lines together from what comes in, and keeps at most one that has not ended. */
export class FrameSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this chunk. Undefined: one is too long, or no UTF-8, and nothing more can be read. */
  split(chunk: Buffer): readonly string[] | undefined {
    const end = chunk.lastIndexOf(newline);
    if (end < 0) return this.#hold(chunk) ? [] : undefined;
    const ended = chunk.subarray(0, end);
    const whole = this.#parts.length === 0 ? ended : Buffer.concat([...this.#parts, ended]);
    this.#parts = [];
    this.#heldBytes = 0;
    if (!isUtf8(whole) || !this.#hold(chunk.subarray(end + 1))) return undefined;
    return whole.toString().split('\n');
  }

  #hold(rest: Buffer): boolean {
    if (rest.length === 0) return true;
    // A copy: the owner of the chunk may reuse it.
    this.#parts.push(Buffer.from(rest));
    this.#heldBytes += rest.length;
    return this.#heldBytes <= this.#maxBytes;
  }
}
