import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import {
  FrameSplitter,
  longestRequest,
  marks,
  mostRequests,
  readFrame,
  writeFrame,
} from '@sallyport/contract/message-line';
import type { Frame } from '@sallyport/contract/message-line';
import type { Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import type { MessageReply, TakeMessage } from './http-route.ts';

export interface MessageLineParts {
  readonly socket: Socket;
  readonly connection: Connection;
  /** Of the request that was upgraded. They belong to every message. */
  readonly headers: IncomingHttpHeaders;
  /** Where that was sent. */
  readonly path: string;
  readonly take: TakeMessage;
}

/**
 * Serves messages that come one by one on a connection that was upgraded: see docs/decisions/0024-a-line-of-messages.md.
 * Each has an exchange of its own, so that it is counted, cancelled and waited for like a request of HTTP. Answers of one
 * turn go out in one packet. Who breaks the form is cut off.
 */
export class MessageLine {
  readonly #parts: MessageLineParts;
  readonly #frames = new FrameSplitter(2 * longestRequest);
  readonly #open = new Map<number, Exchange>();
  /** Frames that go out at the end of this turn. */
  #unsent = '';

  constructor(parts: MessageLineParts) {
    this.#parts = parts;
  }

  /** `head`: what came with the request that was upgraded. */
  begin(head: Buffer): void {
    const { socket, connection } = this.#parts;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => {
      connection.abort('canceled', 'The caller went away.');
      socket.end();
    });
    if (head.length > 0) this.#receive(head);
    socket.resume();
  }

  #receive(chunk: Buffer): void {
    const { socket } = this.#parts;
    const lines = this.#frames.split(chunk);
    for (const line of lines ?? []) {
      const frame = readFrame(line);
      if (frame !== undefined && this.#take(frame)) continue;
      socket.destroy();
      return;
    }
    if (lines === undefined) socket.destroy();
  }

  /** False: nobody who keeps to the form sends this. */
  #take({ number, mark, json }: Frame): boolean {
    if (mark === marks.ended) {
      this.#open.get(number)?.cancel();
      return true;
    }
    if (mark !== marks.message || this.#open.has(number)) return false;
    if (!this.#serve(number, json)) this.#write(writeFrame(number, marks.declined));
    return true;
  }

  /** False: nothing has happened. */
  #serve(number: number, json: string): boolean {
    const { connection, headers, take, path } = this.#parts;
    if (connection.stopping || this.#open.size >= mostRequests) return false;
    const exchange = connection.open(headers, undefined);
    const reply = new LineReply(this.#parts.socket, (mark, text) => this.#write(writeFrame(number, mark, text)));
    const served = take(json, headers, reply, exchange);
    if (served === undefined) {
      exchange.end();
      return false;
    }
    this.#open.set(number, exchange);
    const end = (): void => {
      if (!reply.hasEnded) this.#write(writeFrame(number, marks.ended));
      this.#open.delete(number);
      // With the last exchange, a door that closes hangs up.
      if (connection.stopping) this.#flush();
      exchange.end();
    };
    served.then(end, (error: unknown) => {
      connection.context.log({ message: 'Serving a message failed.', path, error });
      end();
    });
    return true;
  }

  #write(frame: string): void {
    if (this.#unsent === '') process.nextTick(this.#flush);
    this.#unsent += frame;
  }

  /** Nobody gets further answers who does not take these. */
  readonly #flush = (): void => {
    const { socket } = this.#parts;
    const frames = this.#unsent;
    this.#unsent = '';
    if (frames === '' || !socket.writable || socket.write(frames) || socket.isPaused()) return;
    socket.pause();
    socket.once('drain', () => socket.resume());
  };
}

class LineReply implements MessageReply {
  readonly #socket: Socket;
  readonly #send: (mark: '=' | '+', json: string) => void;
  #hasEnded = false;

  constructor(socket: Socket, send: (mark: '=' | '+', json: string) => void) {
    this.#socket = socket;
    this.#send = send;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isBehind(): boolean {
    return this.#socket.writableNeedDrain;
  }

  tell(json: string): void {
    if (!this.#hasEnded) this.#send(marks.news, json);
  }

  end(json: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#send(marks.message, json);
  }
}
