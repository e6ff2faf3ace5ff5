import type { Answer } from '../../call/answer.ts';
import { doors } from '../../call/call.ts';
import { Cancellation } from '../../call/cancellation.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { RedactedProgress } from '../../call/tool.ts';
import type { ClientRuns, OpenRun } from '../../clients/client-runs.ts';
import { readCall } from '../connect/read-call.ts';
import { findCaller } from '../check-caller.ts';
import { openReceiver, sendJson } from '../http/json-requests.ts';
import type { CallRouteParts } from '../http/json-requests.ts';
import { parseBody } from '../http/json-fields.ts';
import type { HttpResponse, HttpRoute } from '../transport/http-route.ts';
import type { Peer } from '../transport/peer.ts';
import { claudeCode, codex } from './claude-code.ts';
import { cursor } from './cursor.ts';
import { explainAnswer } from './explain-answer.ts';
import { gemini } from './gemini.ts';
import type { HookClient, HookDecision, HookEvent, HookPlace, HookReply, MappedCall, UseOfTool } from './hook-event.ts';
import { opencode } from './opencode.ts';
import { execRoute } from './serve-exec.ts';
import { windsurf } from './windsurf.ts';

export interface HookParts extends CallRouteParts {
  readonly runs: ClientRuns;
  /** The command line that comes for the run of a ticket. */
  readonly execCommand: (ticket: string) => string;
  /** Is told of what is ours to mend. Must not throw. */
  readonly onFault: (error: unknown) => void;
}

/** Clients wait ten minutes for a hook at most; a person who has not decided by then is too late for this use. */
const waitMs = 9 * 60_000;

/** `sdk`: agents that run their own tools in their own process, and ask through an adapter of our SDK. */
const clients: Readonly<Record<string, HookClient>> = {
  'claude-code': claudeCode,
  codex,
  gemini,
  opencode,
  cursor,
  windsurf,
  sdk: claudeCode,
};

/** What clients ask before and tell after they use a tool of their own. The same calls, through the same gates. */
export function hookRoutes(parts: HookParts): readonly HttpRoute[] {
  const receive = openReceiver(parts);
  const hooks = Object.entries(clients).map(([name, client]): HttpRoute => ({
    method: 'POST',
    path: `/v1/hooks/${name}`,
    doors,
    handle: async (request, response, peer) => {
      const event = await receive(request, peer, (bytes) => client.readEvent(parseBody(bytes), placeOf(peer)));
      using _ = giveSigns(response, peer);
      const reply = await answerEvent(parts, name, client, event, peer);
      sendJson(response, { status: 200, body: reply as unknown as Readonly<Record<string, unknown>> });
    },
  }));
  return [...hooks, execRoute(parts, endingOf)];
}

/** How often the hook program hears that the gate is alive; without it, it blocks. */
const signEveryMs = 5_000;

/** While the gate waits for a person, to those who ask for it. */
function giveSigns(response: HttpResponse, peer: Peer): Disposable {
  const isAsked = peer.headers('sallyport-signs') === 'yes';
  const timer = isAsked ? setInterval(() => response.writeProcessing(), signEveryMs) : undefined;
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function placeOf(peer: Peer): HookPlace {
  const read = (name: string): string => {
    try {
      const path = decodeURIComponent(peer.headers(`sallyport-${name}`) ?? '');
      return path.startsWith('/') ? path : '';
    } catch {
      return '';
    }
  };
  return { folder: read('folder'), home: read('home'), isOwnServer: peer.headers('sallyport-own-server') === 'yes' };
}

async function answerEvent(
  parts: HookParts,
  name: string,
  client: HookClient,
  event: HookEvent,
  peer: Peer,
): Promise<HookReply> {
  if (event.kind === 'other') return client.present({ kind: 'none' });
  // Who is not known owns nothing; the gate refuses their calls, and records that.
  const caller = findCaller(parts.store, peer);
  const owner = isRefusal(caller) ? '' : caller.id;
  const { clientSession } = event;
  if (event.kind === 'over') {
    for (const run of parts.runs.ofSession({ owner, clientSession })) await endRun(run, () => run.lose());
    return { exitCode: 0 };
  }
  const names = spellIds(event).map((useId) => ({ owner, clientSession, useId }));
  if (event.kind === 'after') {
    const open = names.flatMap((named) => parts.runs.find(named) ?? []);
    const run = open.find(({ isReleased }) => isReleased) ?? open[0];
    // A call from before a restart was closed as unknown when the gate came back.
    if (run !== undefined) await endRun(run, () => run.end(event.outcome));
    return { exitCode: 0 };
  }
  if (event.call === undefined) return client.present({ kind: 'none' });
  const [free] = names.filter((named) => parts.runs.find(named) === undefined);
  const run = free && parts.runs.open(name, free, event.cwd);
  if (run === undefined) return client.present({ kind: 'deny', reason: 'This use of the tool is under way already.' });
  return client.present(await decide(parts, run, event, event.call, peer));
}

/** So many uses at once may look the same. */
const mostAlike = 16;

function spellIds({ useId, isSharedId = false }: UseOfTool): readonly string[] {
  return isSharedId ? Array.from({ length: mostAlike }, (_, at) => (at === 0 ? useId : `${useId}-${at + 1}`)) : [useId];
}

/** By run: resolves when its record is written. */
const endings = new WeakMap<OpenRun, Promise<Answer | undefined>>();

/** How the call of a run ended, once it has. Undefined: by a fault, or it never began. */
function endingOf(run: OpenRun): Promise<Answer | undefined> {
  return endings.get(run) ?? Promise.resolve(undefined);
}

async function endRun(run: OpenRun, end: () => void): Promise<void> {
  end();
  await endings.get(run);
}

async function decide(
  { submit, runs, execCommand, onFault }: HookParts,
  run: OpenRun,
  { cwd, useId }: Extract<HookEvent, { kind: 'before' }>,
  { tool, input, rewritten }: MappedCall,
  peer: Peer,
): Promise<HookDecision> {
  // Who goes away before the gate has decided gets nothing released; afterwards the client has gone on.
  const cancellation = new Cancellation();
  const leave = (): void => cancellation.abort(peer.cancellation.reason);
  peer.cancellation.addEventListener('abort', leave);
  const request = { ...emptyCall, name: tool, inputJson: JSON.stringify(input), requestId: useId, waitMs };
  const onProgress = (progress: RedactedProgress): void => run.tell(progress);
  const call = { ...readCall(request, peer), clientFolder: cwd, clientRun: run, signal: cancellation, onProgress };
  const ended = submit(call)
    .catch((error: unknown): undefined => {
      onFault(error);
      return undefined;
    })
    .finally(() => runs.close(run));
  endings.set(run, ended);
  const first = await Promise.race([ended.then((answer) => ({ answer })), run.released]);
  peer.cancellation.removeEventListener('abort', leave);
  if ('answer' in first) return { kind: 'deny', reason: explainAnswer(first.answer) };
  const { ticket } = first;
  if (ticket === undefined) return { kind: 'allow', reason: 'Sallyport allows it.' };
  const instead = rewritten?.(execCommand(ticket));
  if (instead !== undefined) return { kind: 'rewrite', reason: 'Sallyport runs it in its sandbox.', input: instead };
  cancellation.abort(undefined);
  return {
    kind: 'deny',
    reason: 'Sallyport: this command belongs in the sandbox, and the client cannot run it there.',
  };
}

const emptyCall = { timeoutMs: 0, dedupeKey: '', confirmBinding: '' } as const;
