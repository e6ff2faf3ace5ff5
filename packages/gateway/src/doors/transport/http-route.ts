import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Door } from '../../call/call.ts';
import type { Peer } from './peer.ts';

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
