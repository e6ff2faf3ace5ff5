import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RedactText } from '../../call/redacted.ts';
import type { BodyRoom } from './body-room.ts';
import type { Callers } from './peer.ts';
import type { OriginCheck } from './check-origin.ts';
import type { Connection } from './connection.ts';
import type { RouteTable } from './http-route.ts';
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

/** A request that has arrived over HTTP/1.1, or over HTTP/2 through node's compatible interface. */
export interface Incoming {
  readonly context: DoorContext;
  readonly connection: Connection;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}
