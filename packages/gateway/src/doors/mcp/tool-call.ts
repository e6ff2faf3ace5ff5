import type { ListRootsResult, RequestMeta, RequestOptions, Server, ServerContext } from '@modelcontextprotocol/server';
import { inputResponse } from '@modelcontextprotocol/server';
import type { Json } from '@sallyport/contract';
import type { AbortLike } from '../../call/cancellation.ts';
import type { Submission } from '../../call/submission.ts';
import type { CallerQuestion } from '../../call/tool.ts';
import { answersOf } from './ask-client.ts';
import { callerOf, rawParamsOf } from './caller.ts';
import type { Caller } from './caller.ts';
import { ParkedCalls } from './parked-calls.ts';
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
  /** What the client brings back after the tool had a question. Absent: it had none. */
  readonly answered?: AnsweredQuestions;
}

export interface AnsweredQuestions {
  readonly state: string;
  readonly said: Readonly<Record<string, unknown>>;
}

export interface CallingClient {
  readonly isModern: boolean;
  /** Whether it shows a person a link that the gate names. */
  readonly showsUrls: boolean;
  /** Which questions a client of the newer protocol answers, between two requests. Absent: none. */
  readonly answers?: (question: CallerQuestion) => boolean;
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
  const capabilities = server.getClientCapabilities();
  const showsUrls = capabilities?.elicitation?.url !== undefined;
  const state = isModern ? context.mcpReq.requestState<unknown>() : undefined;
  const answered = ParkedCalls.isState(state) ? { state, said: context.mcpReq.inputResponses ?? {} } : undefined;
  const round = isModern && answered === undefined ? readRound(context) : undefined;
  const answers = isModern ? answersOf(capabilities) : undefined;
  const listRoots = (options: RequestOptions) => context.mcpReq.send({ method: 'roots/list' }, options);
  return {
    ...{ caller, id, connection: context.sessionId, name, args: rawParamsOf(context)['arguments'], meta, notify },
    signal: AbortSignal.any([context.mcpReq.signal, caller.peer.signal]),
    client: { isModern, showsUrls, ...(isModern ? {} : { server, listRoots }), ...(answers && { answers }) },
    ...(round === undefined ? {} : { round }),
    ...(answered && { answered }),
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
