import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { canonicalJson } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { Answer, Problem } from '../../../call/answer.ts';
import type { Submission } from '../../../call/submission.ts';
import { credentialOf } from '../../connect/read-call.ts';
import { bearerOf } from '../../transport/exchange.ts';
import { askClient } from '../ask-client.ts';
import { submitOnTicket } from '../call-tool.ts';
import type { CallParts } from '../call-tool.ts';
import { callerOf } from '../caller.ts';
import { nameCall, nameRequest } from '../pending-tickets.ts';
import { readMeta, traceOf } from '../read-meta.ts';

/** A request for something of a server behind the gate that is not a tool to the client, and is one to the gate. */
export interface PassedRequest {
  readonly server: Server;
  readonly context: ServerContext;
}

/** A call like any other: judged, recorded, and asked about where a rule wants that. */
export async function submitPassed(
  parts: CallParts,
  { server, context }: PassedRequest,
  { tool, args, waits }: { readonly tool: string; readonly args: JsonObject; readonly waits: boolean },
): Promise<Answer> {
  const { session, peer } = callerOf(context);
  const { id, signal, _meta: meta } = context.mcpReq;
  const input = canonicalJson(args);
  const callName = nameCall(bearerOf(peer.headers('authorization')) ?? '', tool, input);
  const said = readMeta(meta, nameRequest(context.sessionId, id, callName));
  const isOlder = context.sessionId !== undefined;
  const call: Submission = {
    door: peer.door,
    source: peer.source,
    ...credentialOf(peer),
    toolName: tool,
    input,
    confirmBinding: '',
    ...said,
    ...traceOf(said, peer),
    ...(waits ? {} : { waitMs: 0 }),
    askCaller: isOlder ? askClient(server) : undefined,
    signal: AbortSignal.any([signal, peer.signal]),
  };
  return submitOnTicket(parts, call, { sessionId: session.id, callName });
}

/** Undefined: there is none, or it is too large for an answer. */
export function outputOf({ problem, output }: Answer): Json | undefined {
  if (problem !== undefined || output === undefined || output.kept !== undefined) return undefined;
  return JSON.parse(output.outputJson) as Json;
}

/** What these requests have in place of a result that is marked as an error. */
export function refusePassed(problem: Problem, { linkToTask }: Pick<CallParts, 'linkToTask'>): ProtocolError {
  const { code, message, ruleId, approval } = problem;
  const isWaiting = approval?.taskId !== undefined && approval.status === 'pending';
  const goOn = 'Make the same request again: it goes on waiting, and runs once it is approved.';
  const remedy = isWaiting
    ? `A person decides at ${linkToTask(approval.taskId ?? '')}. ${goOn}`
    : (problem.remedy ?? '');
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${code}: ${message} ${remedy}`.trim(), { code, ruleId });
}

export function invalidAnswer(what: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    `INVALID_RESULT: The server behind the gate sent ${what} that cannot be passed on.`,
  );
}
