import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Door } from '../../call/call.ts';
import type { Peer } from './peer.ts';

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
  readonly handle: (request: IncomingMessage, response: ServerResponse, peer: Peer) => Promise<void> | void;
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
