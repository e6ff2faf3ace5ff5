import { crc32 } from 'node:zlib';
import type { LoopMemory } from '../policy/judge/loop-memory.ts';
import type * as facts from '../call/call.ts';
import type { Outcome } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Passed, Stage, Working } from '../call/stage.ts';
import { isChange, nameRepeated, repeatsAreSet } from './break-loop.ts';

type Needs = facts.Opened &
  facts.Resolved &
  facts.ArgumentsChecked &
  facts.Judged &
  facts.LoopChecked &
  facts.ReuseChecked &
  facts.Delivered;

/** Compares the result with those before it: only the same call with the same result is a loop. */
export function compareResult(memory: LoopMemory): Stage<Needs, facts.LoopChecked> {
  return {
    name: 'compare-result',
    run: (call, context) => {
      const { session, tool, outcome, reused, rules } = call;
      if (session.principal === 'operator') return undefined;
      const hasRun = reused === undefined;
      const resetsOthers = hasRun && tool.definition.mutates;
      if (!outcome.ok && outcome.failure.code === 'CANCELLED') {
        if (resetsOthers) memory.forget(session.id);
        return undefined;
      }
      const nowMs = context.nowMs();
      const repeated = nameRepeated(call);
      // A stored result that is returned again changes nothing.
      const named = hasRun ? repeated : { ...repeated, tool: `${repeated.tool} kept` };
      memory.note(named, { resultMark: markOf(describe(outcome)), nowMs, resetsOthers });
      const times = memory.countSame(named, nowMs - rules.limits.repeats.windowMs);
      return judge(call, times, hasRun && isChange(call));
    },
  };
}

/**
 * Equal results have equal marks. Different ones do so by chance once in four billion times, and it takes many in a row
 * before anything follows from it; a cryptographic hash took twice as long. A tool that wants equal marks can return
 * equal results anyway.
 */
function markOf(result: string): number {
  return result.length * 2 ** 32 + crc32(result);
}

function describe(outcome: Outcome): string {
  if (outcome.ok) return outcome.kept?.hash ?? outcome.outputJson;
  return `${outcome.failure.code} ${outcome.failure.message}`;
}

function judge(call: Working<Needs, facts.LoopChecked>, times: number, changes: boolean): Passed {
  const { warnAt, delayAt, delayMs, refuseAt, refuseChangesAt, windowMs } = call.rules.limits.repeats;
  const isOften = changes ? times + 1 >= refuseChangesAt : times >= warnAt || times >= refuseAt;
  if (!isOften) return undefined;
  const minutes = Math.ceil(windowMs / 60_000);
  const repeated = `This is call ${times} within ${minutes} minutes with the same arguments and the same result.`;
  if (changes) {
    // The call has run, and its answer is delivered: only the next one is refused.
    call.warnings = [`${repeated} The next one is refused, unless something else was changed.`];
    return undefined;
  }
  if (times >= refuseAt) {
    const { name } = call.tool.definition;
    const message = `${name} gave the same result for the same arguments ${times} times within ${minutes} minutes, and this session changed nothing in between.`;
    return refuse('CALL_REPEATED', 'loop-gate', message, {
      remedy: 'Wait until something has changed, or do something else. A different result is answered at once.',
      forOperators: repeatsAreSet,
    });
  }
  const slower = times + 1 >= delayAt ? ` The next one waits ${delayMs / 1000} s.` : '';
  call.warnings = [`${repeated}${slower} Call ${refuseAt} is refused.`];
  return undefined;
}
