import type { ListRootsResult, RequestMeta, RequestOptions, Server, ServerContext } from '@modelcontextprotocol/server';
import { inputResponse } from '@modelcontextprotocol/server';
import type { Json } from '@sallyport/contract';
import type { AbortLike } from '../../call/cancellation.ts';
import type { Submission } from '../../call/submission.ts';
import { callerOf, rawParamsOf } from './caller.ts';
import type { Caller } from './caller.ts';
import type { ProgressNews } from './progress-sender.ts';

/** A `tools/call` as the gate needs it, whichever way its message was read. */
export interface ToolCall {
  readonly caller: Caller;
  readonly id: string | number;
  /** The session of MCP. Absent: the request stands alone. */
  readonly connection: string | undefined;
  readonly name: string;
  /** As they were sent. Absent: none were. */
  readonly args: Json | undefined;
  readonly meta: RequestMeta | undefined;
  /** Aborts when the client goes away or wants no answer any more. */
  readonly signal: AbortLike;
  readonly notify: (news: ProgressNews) => Promise<void>;
  readonly client: CallingClient;
  /** What the client brings back after it was asked to show a link. Absent: it was not asked. */
  readonly round?: Partial<Submission>;
}

export interface CallingClient {
  readonly isModern: boolean;
  /** Whether it shows a person a link that the gate names. */
  readonly showsUrls: boolean;
  /** Asks a client of the older protocol while a call runs. Absent: the client is of the newer one. */
  readonly server?: Server;
  /** Asks for its roots, in answer to this request. Absent: it cannot be asked now. */
  readonly listRoots?: (options: RequestOptions) => Promise<ListRootsResult>;
}

/** The answer to the one question that the gate asks clients: whether they showed a person the link. */
export const linkShown = 'approval';

const firstModern = '2026-07-28';

/** A call that the SDK has read. */
export function toolCallOf(server: Server, name: string, context: ServerContext): ToolCall {
  const { id, _meta: meta, notify } = context.mcpReq;
  const caller = callerOf(context);
  const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= firstModern;
  const showsUrls = server.getClientCapabilities()?.elicitation?.url !== undefined;
  const round = isModern ? readRound(context) : undefined;
  const listRoots = (options: RequestOptions) => context.mcpReq.send({ method: 'roots/list' }, options);
  return {
    ...{ caller, id, connection: context.sessionId, name, args: rawParamsOf(context)['arguments'], meta, notify },
    signal: AbortSignal.any([context.mcpReq.signal, caller.peer.signal]),
    client: { isModern, showsUrls, ...(isModern ? {} : { server, listRoots }) },
    ...(round === undefined ? {} : { round }),
  };
}

/** It names the task; the gate looks whether it fits. */
function readRound({ mcpReq }: ServerContext): Partial<Submission> | undefined {
  const state = mcpReq.requestState<string>();
  if (mcpReq.inputResponses === undefined && state === undefined) return undefined;
  const answer = inputResponse(mcpReq.inputResponses, linkShown);
  const isShown = answer.kind === 'elicit' && answer.action === 'accept';
  return {
    ...(typeof state === 'string' && state.length <= 64 ? { approvalTaskId: state } : {}),
    // Nobody looks at the link, so waiting here helps nobody: the ticket says how to go on.
    ...(isShown ? {} : { waitMs: 0 }),
  };
}
