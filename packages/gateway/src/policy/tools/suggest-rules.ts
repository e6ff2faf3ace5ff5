import { PolicySuggestionsSchema, spellCount } from '@sallyport/contract';
import type { InJson, PolicySuggestion } from '@sallyport/contract';
import { decodeLeaf } from '@sallyport/log';
import { ConfigError } from '../../call/fault.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { ToolContext } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { openReplay } from '../replay/replay-calls.ts';
import type { Replay } from '../replay/replay-records.ts';
import { readApproval } from '../replay/replay-records.ts';
import { chooseSpan, describeSpan, spanProperties, walkDecided } from '../replay/walk-records.ts';
import type { Span } from '../replay/walk-records.ts';
import { cannotDraft, countDenied, describeDrafted, draftCandidate, nameHabit } from './draft-call.ts';
import type { Asked, Candidate } from './draft-call.ts';
import { longTimeoutMs } from './policy-parts.ts';
import type { PolicyToolParts } from './policy-parts.ts';

const usualRecords = 100_000;
/** Each is tried on the whole log. */
const mostSuggested = 10;
const leastApprovals = 2;

/** What people approved, by the rule that would have made the question needless. */
interface Habit {
  readonly asked: Asked;
  /** Of the last one. */
  readonly index: number;
  /** Cards, not calls: an agent that asks for the same a hundred times at once is one card. */
  readonly tasks: Set<string>;
  readonly people: Set<string>;
}

/**
 * Proposes rules for exactly what people approved before. What agents ask, say or write decides nothing: only decisions of
 * people count, and a rule that would let something through which was ever denied is not proposed.
 */
export function suggestTool(parts: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.suggest',
    description:
      'Proposes rules from what people approved before, and shows how many questions each would have spared.',
    mutates: false,
    timeoutMs: longTimeoutMs,
    properties: spanProperties(usualRecords),
    answers: PolicySuggestionsSchema,
    run: async (args, context) => {
      const span = await chooseSpan(parts.store, args, usualRecords);
      const { habits, leftOut } = await findHabits(parts, span, context);
      const suggestions = await tryHabits(habits, parts, context, leftOut);
      const left = [...leftOut].map(([why, approvals]) => ({ why, approvals }));
      return { span: describeSpan(span), suggestions, leftOut: left };
    },
    summarize: (_args, { suggestions }) => spellCount(suggestions.length, 'suggestion'),
  });
}

type LeftOut = Map<string, number>;

async function findHabits(parts: PolicyToolParts, span: Span, context: ToolContext) {
  const replay = openReplay(parts, { rules: parts.rules.current, span });
  const habits = new Map<string, Habit>();
  const leftOut: LeftOut = new Map();
  const leave = (why: string): void => void leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
  for await (const page of walkDecided(parts.store, span, context)) {
    for (const record of page) {
      const approval = readApproval(record);
      if (approval === undefined) continue;
      const asked = await replay.readQuestion(record);
      if (asked === undefined || isRefusal(asked.question)) {
        leave('the log does not keep enough of the call');
        continue;
      }
      const { question, workspace } = asked;
      const named = orWhy(() => nameHabit({ question, workspace }, parts));
      if ('why' in named) leave(named.why);
      else {
        const known = habits.get(named.value);
        const tasks = (known?.tasks ?? new Set()).add(approval.task);
        const people = (known?.people ?? new Set()).add(approval.by);
        habits.set(named.value, { asked: { question, workspace }, index: record.index, tasks, people });
      }
    }
  }
  const often = [...habits.values()].filter(({ tasks }) => tasks.size >= leastApprovals);
  return { habits: often.sort((one, other) => other.tasks.size - one.tasks.size).slice(0, mostSuggested), leftOut };
}

/** Tries each on everything that is on record. */
async function tryHabits(
  habits: readonly Habit[],
  parts: PolicyToolParts,
  context: ToolContext,
  leftOut: LeftOut,
): Promise<InJson<PolicySuggestion>[]> {
  const span = await chooseSpan(parts.store, { last: Number.MAX_SAFE_INTEGER }, 0);
  const against = parts.rules.current;
  const tried: { readonly habit: Habit; readonly candidate: Candidate; readonly replay: Replay }[] = [];
  for (const habit of habits) {
    const callId = await readCallId(habit.index, parts);
    const drafted = orWhy(() => draftCandidate(callId, habit.asked, 0, parts));
    if ('why' in drafted) leftOut.set(drafted.why, (leftOut.get(drafted.why) ?? 0) + habit.tasks.size);
    else {
      const replay = openReplay(parts, { rules: drafted.value.next, against, span });
      tried.push({ habit, candidate: drafted.value, replay });
    }
  }
  if (tried.length > 0) {
    for await (const page of walkDecided(parts.store, span, context))
      for (const { replay } of tried) await replay.take(page);
  }
  const denied = await countDenied(
    tried.map(({ candidate }) => candidate),
    parts,
    span,
  );
  const suggestions: InJson<PolicySuggestion>[] = [];
  for (const [at, { habit, candidate, replay }] of tried.entries()) {
    const { tasks, people } = habit;
    const reopened = replay.reopened + (denied[at] ?? 0);
    if (reopened > 0) {
      const why = cannotDraft('the same was denied before, by a rule or a person').message;
      leftOut.set(why, (leftOut.get(why) ?? 0) + tasks.size);
      continue;
    }
    const { shown } = await describeDrafted(candidate, replay, span, reopened, parts);
    const spared = replay.ways.find(({ was, would }) => was === 'require_approval' && would === 'allow');
    // A call that was approved is on record twice: when it asked, and when it ran.
    const questions = Math.max(tasks.size, (spared?.count ?? 0) - tasks.size);
    suggestions.push({ draft: shown, approvals: tasks.size, approvedBy: [...people], questions });
  }
  return suggestions.sort((one, other) => other.questions - one.questions);
}

function orWhy<Value>(make: () => Value): { readonly value: Value } | { readonly why: string } {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof ConfigError) return { why: [error.message, error.remedy ?? ''].join(' ').trim() };
    throw error;
  }
}

async function readCallId(index: number, { store }: PolicyToolParts): Promise<string> {
  const [record] = await store.readRecords(index, 1);
  return (record && decodeLeaf(record.leaf).callId) ?? '';
}
