import type { RedactText } from '../../call/redacted.ts';
import type { BodyRoom } from './body-room.ts';
import type { Callers } from './peer.ts';
import type { OriginCheck } from './check-origin.ts';
import type { Connection } from './connection.ts';
import type { HttpRequest, HttpResponse, RouteTable } from './http-route.ts';
import type { MethodTable } from './method-table.ts';
import type { TransportLog } from './rpc-error.ts';
import type { TransportLimits } from './transport-limits.ts';

/** What is served at one door, and within which bounds. */
export interface DoorContext {
  readonly methods: MethodTable;
  readonly routes: RouteTable;
  readonly origin: OriginCheck;
  readonly limits: TransportLimits;
  readonly room: BodyRoom;
  readonly callers: Callers;
  readonly log: TransportLog;
  readonly redact: RedactText;
}

/** A request that has arrived, over HTTP/1.1 or HTTP/2. */
export interface Incoming {
  readonly context: DoorContext;
  readonly connection: Connection;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
}
