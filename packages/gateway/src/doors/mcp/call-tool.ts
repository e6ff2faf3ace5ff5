import { inputRequired } from '@modelcontextprotocol/server';
import type { CallToolResult, InputRequiredResult, Server } from '@modelcontextprotocol/server';
import { isJsonObject } from '@sallyport/contract';
import type { Code, Json } from '@sallyport/contract';
import { pendingTaskOf } from '../../call/answer.ts';
import type { Answer } from '../../call/answer.ts';
import type { Submission, Submit } from '../../call/submission.ts';
import { askClient } from './ask-client.ts';
import type { ClientFolders } from './client-folders.ts';
import type { OfferedTools } from './offered-tools.ts';
import type { PendingTickets } from './pending-tickets.ts';
import type { AskedBack, ParkedCalls, ParkedRun } from './parked-calls.ts';
import { presentAnswer } from './present-answer.ts';
import type { PresentParts } from './present-answer.ts';
import { ProgressSender } from './progress-sender.ts';
import { readCall } from './read-call.ts';
import { ownText } from '../../call/redacted.ts';
import { linkShown } from './tool-call.ts';
import type { ToolCall } from './tool-call.ts';

export interface CallParts extends PresentParts {
  readonly submit: Submit;
  readonly tools: Pick<OfferedTools, 'canonicalName'>;
  readonly tickets: PendingTickets;
  readonly folders: ClientFolders;
  readonly parked: ParkedCalls;
}

export type CallAnswer = CallToolResult | InputRequiredResult;

/** One `tools/call`, the way of every call: whatever the client says, the gate decides. */
export async function callTool(parts: CallParts, asked: ToolCall): Promise<CallAnswer> {
  const { caller, client, round, meta } = asked;
  const token = meta?.progressToken;
  const progress = token === undefined ? undefined : new ProgressSender(asked.notify, token, caller.isBehind);
  const { call, callName } = readCall(parts, asked, await parts.folders.find(caller, client));
  let shown: AbortController | undefined;
  try {
    // A client of the newer protocol is asked between two requests, so the first one ends at once.
    const isAsked = client.isModern && client.showsUrls && round === undefined && call.waitMs !== 0;
    const submission: Submission = {
      ...call,
      waitMs: isAsked ? 0 : call.waitMs,
      onProgress: progress && ((news) => progress.tell(news)),
      askCaller: client.server && askClient(client.server),
      onPending: (taskId) => {
        const url = parts.linkToTask(taskId);
        progress?.tell({ kind: 'stderr', text: ownText(`Waiting for a person, who decides at ${url}`) });
        if (!client.showsUrls || client.server === undefined) return;
        shown ??= new AbortController();
        showUrl(client.server, { url, taskId, signal: shown.signal });
      },
      ...round,
    };
    const key = { owner: caller.session.id, callName, signal: call.signal };
    const run = (how?: Partial<ParkedRun>): Promise<Answer> => {
      const parked = how === undefined ? submission : { ...submission, ...how };
      return submitOnTicket(parts, parked, { sessionId: key.owner, callName });
    };
    const { answers } = client;
    const next =
      asked.answered === undefined
        ? answers === undefined
          ? run()
          : parts.parked.run(run, { ...key, answers })
        : parts.parked.resume(asked.answered.state, asked.answered.said, key);
    const answer = await next;
    if (answer === undefined) return isOver;
    if ('questions' in answer) return askBetween(answer);
    const taskId = pendingTaskOf(answer);
    if (isAsked && taskId !== undefined) {
      const link = inputRequired.elicitUrl({ message: whyUrl, url: parts.linkToTask(taskId) });
      return inputRequired({ inputRequests: { [linkShown]: link }, requestState: taskId });
    }
    const result = presentAnswer(answer, parts);
    return client.isModern ? result : forOlderClient(result);
  } finally {
    progress?.end();
    shown?.abort();
  }
}

/** What a client is given that answers a call which has ended or never was. */
const isOver: CallToolResult = {
  isError: true,
  content: [
    {
      type: 'text',
      text: 'The call that this answers is over, or waits for another request. What to do: make the call again without an answer, if it is still wanted.',
    },
  ],
};

/** The questions of a tool, in the words of the newer protocol. */
function askBetween({ state, questions }: AskedBack): InputRequiredResult {
  const requests = Object.entries(questions).map(([key, { method, params }]) => {
    const { elicitationId: _older, ...asked } = params;
    return [key, { method, params: asked }] as const;
  });
  const inputRequests = Object.fromEntries(requests) as NonNullable<InputRequiredResult['inputRequests']>;
  return inputRequired({ inputRequests, requestState: state });
}

/** In the older protocol what is structured is an object; whatever else a server sent is in the text, too. */
function forOlderClient({ structuredContent, ...result }: CallToolResult): CallToolResult {
  const isKept = structuredContent !== undefined && isJsonObject(structuredContent as Json);
  return isKept ? { ...result, structuredContent } : result;
}

const whyUrl =
  'A person must agree to this call. The link leads to the console, where it can be approved or denied; an answer here decides nothing.';

/**
 * Goes on waiting where the same call already waits. A ticket that no longer fits, such as because the file has changed
 * since or the approval was used, is set aside unless the caller named it: then the call begins anew.
 */
export async function submitOnTicket(
  { submit, tickets }: Pick<CallParts, 'submit' | 'tickets'>,
  call: Submission,
  { sessionId, callName }: { readonly sessionId: string; readonly callName: string },
): Promise<Answer> {
  const named = call.approvalTaskId === undefined ? undefined : await tickets.findTask(sessionId, call.approvalTaskId);
  const kept = call.approvalTaskId === undefined ? await tickets.find(sessionId, callName) : named;
  let answer = await submit(
    kept === undefined ? call : { ...call, approvalTaskId: kept.taskId, requestId: kept.requestId },
  );
  if (kept !== undefined && named === undefined && isStale(answer)) {
    tickets.forget(sessionId, callName);
    const { parsedInput: _used, ...anew } = call;
    answer = await submit(anew);
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

/** In the older protocol the client is asked while the call waits, and what it answers does not matter. */
function showUrl(
  server: Server,
  { url, taskId, signal }: { readonly url: string; readonly taskId: string; readonly signal: AbortSignal },
): void {
  const question = { mode: 'url', url, elicitationId: taskId, message: whyUrl } as const;
  server.elicitInput(question, { signal, timeout: 600_000 }).catch(() => undefined);
}
