import type { Call, Outcome } from '../live/call.ts';
import { factsOfCall } from '../live/call.ts';
import { tellCall } from '../text/tell-call.ts';
import type { ToldCall } from '../text/tell-call.ts';

/** What belongs together: a call, or a question with its answer and the run that followed. */
export interface Story {
  readonly key: string;
  /** Oldest first. */
  readonly calls: readonly Call[];
  /** The call that the row is about: the latest of those that are not a decision. */
  readonly head: Call;
  readonly told: ToldCall;
  readonly outcome: Outcome;
  /** In the order in which they happened. Empty: it simply ran, or did not. */
  readonly steps: readonly StoryStep[];
  readonly latestMs: number;
}

export interface StoryStep {
  readonly name: 'asked' | 'approved' | 'denied' | 'ran' | 'failed' | 'expired';
  /** Who did it. Empty: nobody in particular. */
  readonly by: string;
  readonly atMs: number;
  readonly callId: string;
}

const decisionTools = /^(?:approvals|reviews)\.(?:approve|deny|decide)$/;

/** Puts calls together to stories, the latest first. */
export function groupStories(calls: Iterable<Call>): readonly Story[] {
  const groups = new Map<string, Call[]>();
  for (const call of calls) {
    const key = call.taskId === '' ? call.id : call.taskId;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [call]);
    else group.push(call);
  }
  return [...groups].map(([key, group]) => tellOnce(key, group)).toSorted((a, b) => b.latestMs - a.latestMs);
}

/** A call never changes: with another record it is another object. Most stories have one. */
const toldBefore = new WeakMap<Call, Story>();

function tellOnce(key: string, group: readonly Call[]): Story {
  const [only, ...others] = group;
  const known = only === undefined || others.length > 0 ? undefined : toldBefore.get(only);
  if (known !== undefined) return known;
  const story = storyOf(key, group);
  if (only !== undefined && others.length === 0) toldBefore.set(only, story);
  return story;
}

function storyOf(key: string, group: readonly Call[]): Story {
  const calls = group.toSorted((a, b) => a.startedAtMs - b.startedAtMs || orderOf(a) - orderOf(b));
  const head = calls.findLast(({ tool }) => !decisionTools.test(tool)) ?? calls.at(-1);
  if (head === undefined) throw new Error('a story has at least one call');
  const decision = calls.findLast(({ tool, outcome }) => decisionTools.test(tool) && outcome === 'ok');
  const isDenied = head.outcome === 'waiting' && decision?.tool === 'approvals.deny';
  const outcome = isDenied ? 'denied' : head.outcome;
  const told = tellCall(head.tool, factsOfCall(head).arguments, head.summary, outcome);
  return {
    key,
    calls,
    head,
    told: isDenied ? { ...told, detail: `denied by ${decision.agent}` } : told,
    outcome,
    steps: calls.some(({ taskId }) => taskId !== '') ? stepsOf(calls, decision !== undefined) : [],
    latestMs: Math.max(...calls.map(({ startedAtMs }) => startedAtMs)),
  };
}

/** A search may have found the run and not the decision; the run says who gave it. */
function stepsOf(calls: readonly Call[], hasDecision: boolean): readonly StoryStep[] {
  const consented = hasDecision ? [] : calls.flatMap(consentOf);
  return [...consented, ...calls.flatMap(stepOf)].toSorted(
    (a, b) => a.atMs - b.atMs || stepOrder.indexOf(a.name) - stepOrder.indexOf(b.name),
  );
}

const stepOrder: readonly StoryStep['name'][] = ['asked', 'approved', 'denied', 'expired', 'ran', 'failed'];

function consentOf(call: Call): readonly StoryStep[] {
  const { by, at_ms: atMs, task } = factsOfCall(call).consent ?? {};
  return task === undefined || by === undefined || atMs === undefined
    ? []
    : [{ name: 'approved', by, atMs, callId: call.id }];
}

/** A question and its answer can have the same millisecond. */
function orderOf({ tool, outcome }: Call): number {
  if (decisionTools.test(tool)) return 1;
  return outcome === 'waiting' ? 0 : 2;
}

function stepOf({
  id: callId,
  tool,
  agent: by,
  outcome,
  startedAtMs: atMs,
  durationMs = 0,
}: Call): readonly StoryStep[] {
  if (decisionTools.test(tool)) {
    return outcome === 'ok' ? [{ name: tool.endsWith('deny') ? 'denied' : 'approved', by, atMs, callId }] : [];
  }
  const endMs = atMs + durationMs;
  if (outcome === 'waiting') return [{ name: 'asked', by, atMs, callId }];
  if (outcome === 'ok') return [{ name: 'ran', by, atMs: endMs, callId }];
  // Nobody answered the question itself; or the run was refused in the end.
  const isQuestion = durationMs === 0 && outcome === 'denied';
  return [{ name: isQuestion ? 'expired' : 'failed', by, atMs: endMs, callId }];
}
