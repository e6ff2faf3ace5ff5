import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Door } from '../../call/call.ts';
import type { Peer } from './peer.ts';
import type { BodySource } from './read-body.ts';

/** A request that came whole, on the lane for plain calls. */
export interface WholeRequest {
  readonly method: 'POST';
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The part of a `ServerResponse` that the lane has too. */
export interface HttpReply {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  /** The reader has left lying what was sent already. */
  readonly writableNeedDrain: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  /** Sends the head at once. Without it, the head goes out with what follows, in one packet. */
  flushHeaders(): void;
  /** False: wait for `drain`. */
  write(chunk: string | Uint8Array): boolean;
  end(chunk?: string | Uint8Array): unknown;
  on(event: 'close' | 'drain' | 'finish', listener: () => void): unknown;
  off(event: 'close' | 'drain' | 'finish', listener: () => void): unknown;
}

/** The way back for one message on a line of messages. Each `json` is a message without line breaks. */
export interface MessageReply {
  /** The reader has left lying what was sent already. */
  readonly isBehind: boolean;
  /** Before the answer. */
  tell(json: string): void;
  /** The answer. Without it, the sender is told that there will be none. */
  end(json: string): void;
}

/** A request, of whichever version of HTTP. */
export interface HttpRequest extends BodySource {
  readonly httpVersionMajor: number;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** It has come whole. */
  readonly complete: boolean;
  once(event: 'close' | 'end', listener: () => void): unknown;
  destroy(): unknown;
}

/** The answer to it. */
export interface HttpResponse extends HttpReply {
  /** Its head is written, though it may not be sent. */
  readonly headersSent: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  /** Says, before the head, that there will be an answer. */
  writeProcessing(): void;
  once(event: 'close' | 'drain' | 'finish', listener: () => void): unknown;
  destroy(): unknown;
}

/**
 * Takes a message. Undefined: it must be sent as a request of its own, and nothing has happened. `headers` are those of the
 * request that opened the line.
 */
export type TakeMessage = (
  json: string,
  headers: IncomingHttpHeaders,
  reply: MessageReply,
  peer: Peer,
) => Promise<void> | undefined;

/** Plain HTTP beside the RPC methods: `/healthz` today; a page or another protocol is one more row. */
export interface HttpRoute {
  readonly method: string;
  /** Exactly this path; a query string is left in `request.url`. */
  readonly path: string;
  readonly doors: readonly Door[];
  /**
   * Host and Origin have been checked. The request counts as open until the promise settles, so a route that streams
   * waits for its end there. A throw before the answer began becomes an error in Connect's form.
   */
  readonly handle: (request: HttpRequest, response: HttpResponse, peer: Peer) => Promise<void> | void;
  /** The same for a request that the lane for plain calls has read. Absent: such requests go through HTTP as well. */
  readonly handleWhole?: (request: WholeRequest, reply: HttpReply, peer: Peer) => Promise<void> | void;
  /** For a request that asks to be upgraded to a line of messages. Absent: it is answered like every other. */
  readonly takeMessage?: TakeMessage;
}

/** The routes of one door: path, then method. */
export type RouteTable = ReadonlyMap<string, ReadonlyMap<string, HttpRoute>>;

export function tabulateRoutes(routes: readonly HttpRoute[], door: Door): RouteTable {
  const table = new Map<string, Map<string, HttpRoute>>();
  for (const route of routes) {
    if (!route.doors.includes(door)) continue;
    const methods = table.get(route.path) ?? new Map<string, HttpRoute>();
    table.set(route.path, methods.set(route.method, route));
  }
  return table;
}
