import { setTimeout } from 'node:timers/promises';
import type * as facts from '../call/call.ts';
import type { LoopMemory, RepeatedCall } from '../policy/judge/loop-memory.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Passed, Stage } from '../call/stage.ts';
import { refuseEnded } from '../call/call-ended.ts';

const noWarnings: readonly string[] = [];

type Needs = facts.Begun & facts.Opened & facts.Resolved & facts.ArgumentsChecked & facts.Judged;

/**
 * Stops an agent that repeats one change although its result stays the same, and slows down one that only reads. A call
 * that reads is compared after it ran, so that the agent never works with an outdated result.
 */
export function breakLoop(memory: Pick<LoopMemory, 'countSame'>): Stage<Needs, facts.LoopChecked> {
  return {
    name: 'break-loop',
    run: (call, context) => {
      // If the call was ended on its way here, it ends now and not when it would have run.
      if (call.isEnded) return refuseEnded(call.signal);
      // A person who repeats a call has a reason; this stage is for agents in a loop.
      call.warnings = noWarnings;
      if (call.session.principal === 'operator') return undefined;
      const { delayAt, delayMs, refuseChangesAt, windowMs } = call.rules.limits.repeats;
      const seen = memory.countSame(nameRepeated(call), context.nowMs() - windowMs);
      if (isChange(call)) return seen + 1 >= refuseChangesAt ? refuseChange(call, seen) : undefined;
      return seen + 1 >= delayAt ? delay(call, delayMs) : undefined;
    },
  };
}

export function nameRepeated({
  session,
  tool,
  arguments: args,
}: facts.Opened & facts.Resolved & facts.ArgumentsChecked): RepeatedCall {
  return { sessionId: session.id, tool: tool.definition.name, argumentsSha256: args.sha256 };
}

/** Whether repeating the call repeats a change. A command of ours counts as a look unless it names what it writes. */
export function isChange({ tool, resources }: facts.Resolved & facts.ArgumentsChecked): boolean {
  const { mutates, scopes, origin } = tool.definition;
  const isCommand = origin === undefined && scopes.includes('commands');
  return mutates && (!isCommand || resources.paths.some(({ access }) => access === 'write'));
}

/** The delay is here because the call holds no place yet, and what it reads afterwards is fresh. */
async function delay({ signal }: Needs, delayMs: number): Promise<Passed> {
  try {
    await setTimeout(delayMs, undefined, { signal });
  } catch {
    return refuseEnded(signal);
  }
  return undefined;
}

function refuseChange({ tool, rules }: Needs, seen: number): Refusal {
  const minutes = Math.ceil(rules.limits.repeats.windowMs / 60_000);
  const message = `${tool.definition.name} with these arguments had the same result ${seen} times, and this session changed nothing else in between.`;
  return refuse('CALL_REPEATED', 'loop-gate', message, {
    remedy: `Look at what it changed and do something else first, change the arguments, or wait ${minutes} minutes.`,
    forOperators: repeatsAreSet,
  });
}

export const repeatsAreSet =
  'How often a call may repeat is under repeats in limits.yaml; `sallyport policy apply` applies a change.';
