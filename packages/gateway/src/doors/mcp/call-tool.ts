import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import { canonicalJson } from '@sallyport/contract';
import type { RedactedEnding } from '../redact-ending.ts';
import type { Submission, Submit } from '../await-decision.ts';
import { credentialOf } from '../connect/tool-service.ts';
import { askClient } from './ask-client.ts';
import { callerOf, rawParamsOf } from './caller.ts';
import type { OfferedTools } from './offered-tools.ts';
import { nameCall, nameRequest } from './pending-tickets.ts';
import type { PendingTickets } from './pending-tickets.ts';
import { presentResult } from './present-result.ts';
import type { PresentParts } from './present-result.ts';
import { ProgressSender } from './progress-sender.ts';
import { readMeta } from './read-meta.ts';
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
  const { call, callName } = readCall(parts, params, context);
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
    const ending = await submitOnTicket(parts, submission, { sessionId: session.id, callName });
    const taskId = pendingTask(ending);
    if (isAsked && taskId !== undefined) {
      const link = inputRequired.elicitUrl({ message: whyUrl, url: parts.linkToTask(taskId) });
      return inputRequired({ inputRequests: { [linkShown]: link }, requestState: taskId });
    }
    return presentResult(ending, Date.now(), parts);
  } finally {
    progress?.end();
    shown?.abort();
  }
}

const whyUrl =
  'A person must agree to this call. The link leads to the console, where it can be approved or denied; an answer here decides nothing.';

/** What the client asks for, and a name for it that its repetitions share. */
function readCall(
  { tools }: CallParts,
  params: CallToolRequest['params'],
  context: ServerContext,
): { readonly call: Submission; readonly callName: string } {
  const { id, signal, _meta: meta } = context.mcpReq;
  const { peer } = callerOf(context);
  const traceparent = peer.headers('traceparent');
  const who = credentialOf(peer);
  const toolName = tools.canonicalName(params.name);
  const input = canonicalJson(rawParamsOf(context)['arguments'] ?? {});
  const callName = nameCall(who.credential ?? '', toolName, input);
  const call: Submission = {
    ...{ door: peer.door, source: peer.source, ...who, toolName, input },
    confirmBinding: '',
    ...(traceparent === undefined ? {} : { traceparent }),
    ...readMeta(meta, nameRequest(context.sessionId, id, callName)),
    signal: AbortSignal.any([signal, peer.signal]),
  };
  return { call, callName };
}

/**
 * Goes on waiting where the same call already waits. A ticket that no longer fits, such as because the file has changed
 * since or the approval was used, is set aside unless the caller named it: then the call begins anew.
 */
async function submitOnTicket(
  { submit, tickets }: CallParts,
  call: Submission,
  { sessionId, callName }: { readonly sessionId: string; readonly callName: string },
): Promise<RedactedEnding> {
  const named = call.approvalTaskId === undefined ? undefined : tickets.findTask(sessionId, call.approvalTaskId);
  const kept = call.approvalTaskId === undefined ? tickets.find(sessionId, callName) : named;
  let ending = await submit({
    ...call,
    ...(kept === undefined ? {} : { approvalTaskId: kept.taskId, requestId: kept.requestId }),
  });
  if (kept !== undefined && named === undefined && isStale(ending)) {
    tickets.forget(sessionId, callName);
    ending = await submit(call);
  }
  const taskId = pendingTask(ending);
  if (taskId === undefined) tickets.forget(sessionId, callName);
  else tickets.keep(sessionId, callName, { taskId, requestId: ending.call.requestId ?? call.requestId });
  return ending;
}

function isStale(ending: RedactedEnding): boolean {
  if (ending.kind !== 'refused') return false;
  return ['APPROVAL_MISMATCH', 'APPROVAL_EXPIRED', 'APPROVAL_USED'].includes(ending.refusal.code);
}

function pendingTask(ending: RedactedEnding): string | undefined {
  if (ending.kind !== 'refused' || ending.refusal.code !== 'APPROVAL_REQUIRED') return undefined;
  return ending.refusal.approval?.taskId;
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
