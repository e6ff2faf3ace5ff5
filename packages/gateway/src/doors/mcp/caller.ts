import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { Session } from '../../call/session.ts';
import type { Peer } from '../transport/peer.ts';

/** Who sent one HTTP request to the MCP door, and how its answer is doing. */
export interface Caller {
  /** As it was when the request arrived. Every call is judged by what it is then. */
  readonly session: Session;
  readonly peer: Peer;
  /** What was posted: a message, or several. Absent: nothing was. */
  readonly message?: Json;
  /** Whether the reader has left lying what was sent already: what it can do without is then not sent. */
  readonly isBehind: () => boolean;
}

/** The way of a caller through the SDK, which passes this on to handlers untouched. It holds no token. */
export function authInfoOf(caller: Caller): AuthInfo {
  return { token: '', clientId: caller.session.id, scopes: [], extra: { caller } };
}

/** Who sent the request that is being handled. Throws when it did not come through the door. */
export function callerOf({ http }: Pick<ServerContext, 'http'>): Caller {
  const caller = http?.authInfo?.extra?.['caller'] as Caller | undefined;
  if (caller === undefined) throw new Error('an MCP request without a caller');
  return caller;
}

/** The parameters of the request that is being handled, as they were sent: the SDK leaves out some of them. */
export function rawParamsOf(context: Pick<ServerContext, 'http' | 'mcpReq'>): JsonObject {
  const { message } = callerOf(context);
  const messages: readonly Json[] = Array.isArray(message) ? message : [message ?? null];
  const { id } = context.mcpReq;
  const [found, ...more] = messages.filter((each) => isJsonObject(each)).filter((each) => each['id'] === id);
  const params = found?.['params'];
  // Of two requests with the same id nobody could say which one this is.
  if (more.length > 0 || !isJsonObject(params)) throw new Error('the request cannot be told from others');
  return params;
}

/** An answer, and what to do once it has been sent whole or its reader has gone. */
export interface Served {
  readonly response: Response;
  readonly release: () => void;
}
