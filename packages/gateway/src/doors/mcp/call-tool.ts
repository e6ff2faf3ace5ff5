import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { Code } from '@sallyport/contract';
import { pendingTaskOf } from '../../call/answer.ts';
import type { Answer } from '../../call/answer.ts';
import type { Submission, Submit } from '../../call/submission.ts';
import { askClient } from './ask-client.ts';
import { callerOf } from './caller.ts';
import type { OfferedTools } from './offered-tools.ts';
import type { PendingTickets } from './pending-tickets.ts';
import { presentAnswer } from './present-answer.ts';
import type { PresentParts } from './present-answer.ts';
import { ProgressSender } from './progress-sender.ts';
import { readCall } from './read-call.ts';
import { ownText } from '../../call/redacted.ts';

export interface CallParts extends PresentParts {
  readonly submit: Submit;
  readonly tools: Pick<OfferedTools, 'canonicalName'>;
  readonly tickets: PendingTickets;
}

/** The answer to the one question that the gate asks clients: whether they showed a person the link. */
const linkShown = 'approval';

type CallAnswer = CallToolResult | InputRequiredResult;

/** One `tools/call`, the way of every call: whatever the client says, the gate decides. */
export async function callTool(
  parts: CallParts,
  server: Server,
  { params }: CallToolRequest,
  context: ServerContext,
): Promise<CallAnswer> {
  const { session, isBehind } = callerOf(context);
  const { _meta: meta } = context.mcpReq;
  const token = meta?.progressToken;
  const progress = token === undefined ? undefined : new ProgressSender(context, token, isBehind);
  const { call, callName } = readCall(parts.tools, params, context);
  let shown: AbortController | undefined;
  try {
    const isUrlShown = showsUrls(server);
    const isModern = servesModern(server);
    const round = isModern ? readRound(context) : undefined;
    // A client of the newer protocol is asked between two requests, so the first one ends at once.
    const isAsked = isModern && isUrlShown && round === undefined && call.waitMs !== 0;
    const submission: Submission = {
      ...call,
      ...(isAsked ? { waitMs: 0 } : {}),
      ...(round === undefined ? {} : round),
      ...(progress === undefined ? {} : { onProgress: (news) => progress.tell(news) }),
      ...(isModern ? {} : askClient(server, context)),
      onPending: (taskId) => {
        const url = parts.linkToTask(taskId);
        progress?.tell({ kind: 'stderr', text: ownText(`Waiting for a person, who decides at ${url}`) });
        if (!isUrlShown || isModern) return;
        shown ??= new AbortController();
        showUrl(context, { url, taskId, signal: shown.signal });
      },
    };
    const answer = await submitOnTicket(parts, submission, { sessionId: session.id, callName });
    const taskId = pendingTaskOf(answer);
    if (isAsked && taskId !== undefined) {
      const link = inputRequired.elicitUrl({ message: whyUrl, url: parts.linkToTask(taskId) });
      return inputRequired({ inputRequests: { [linkShown]: link }, requestState: taskId });
    }
    return presentAnswer(answer, parts);
  } finally {
    progress?.end();
    shown?.abort();
  }
}

const whyUrl =
  'A person must agree to this call. The link leads to the console, where it can be approved or denied; an answer here decides nothing.';

/**
 * Goes on waiting where the same call already waits. A ticket that no longer fits, such as because the file has changed
 * since or the approval was used, is set aside unless the caller named it: then the call begins anew.
 */
async function submitOnTicket(
  { submit, tickets }: CallParts,
  call: Submission,
  { sessionId, callName }: { readonly sessionId: string; readonly callName: string },
): Promise<Answer> {
  const named = call.approvalTaskId === undefined ? undefined : await tickets.findTask(sessionId, call.approvalTaskId);
  const kept = call.approvalTaskId === undefined ? await tickets.find(sessionId, callName) : named;
  let answer = await submit({
    ...call,
    ...(kept === undefined ? {} : { approvalTaskId: kept.taskId, requestId: kept.requestId }),
  });
  if (kept !== undefined && named === undefined && isStale(answer)) {
    tickets.forget(sessionId, callName);
    answer = await submit(call);
  }
  const taskId = pendingTaskOf(answer);
  if (taskId === undefined) tickets.forget(sessionId, callName);
  else tickets.keep(sessionId, callName, { taskId, requestId: answer.requestId });
  return answer;
}

const staleCodes: readonly Code[] = ['APPROVAL_MISMATCH', 'APPROVAL_EXPIRED', 'APPROVAL_USED'];

function isStale({ ended, problem }: Answer): boolean {
  return ended === 'refused' && problem !== undefined && staleCodes.includes(problem.code);
}

/** What a client brings back after it was asked to show the link. It names the task; the gate looks whether it fits. */
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

/** In the older protocol the client is asked while the call waits, and what it answers does not matter. */
function showUrl(
  { mcpReq }: ServerContext,
  { url, taskId, signal }: { readonly url: string; readonly taskId: string; readonly signal: AbortSignal },
): void {
  const question = { mode: 'url', url, elicitationId: taskId, message: whyUrl } as const;
  mcpReq.elicitInput(question, { signal, timeout: 600_000 }).catch(() => undefined);
}

function showsUrls(server: Server): boolean {
  return server.getClientCapabilities()?.elicitation?.url !== undefined;
}

const firstModern = '2026-07-28';

function servesModern(server: Server): boolean {
  return (server.getNegotiatedProtocolVersion() ?? '') >= firstModern;
}
