import type { ArgumentsChecked, Judged, LoopChecked, Opened, Resolved } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { LoopMemory } from '../governance/loop-memory.ts';
import type { Stage } from '../pipeline/stage.ts';

/** Stops an agent that repeats one call although its result does not change. */
export function breakLoop(memory: LoopMemory): Stage<Opened & Resolved & ArgumentsChecked & Judged, LoopChecked> {
  return {
    name: 'break-loop',
    run: (call, context) => {
      const { warnAt, refuseAt, windowMs } = call.rules.limits.repeats;
      const { agent, principal } = call.session;
      // A person who asks again has a reason; the gate is against agents that run in circles.
      if (principal === 'operator') return { warnings: [] };
      const { name } = call.tool.definition;
      const seen = memory.countSame(agent, name, call.arguments.sha256, context.nowMs() - windowMs);
      const attempt = seen + 1;
      if (attempt >= refuseAt) {
        return refuse(
          'CALL_REPEATED',
          'loop-gate',
          `${name} gave the same result for the same arguments ${seen} times.`,
          {
            remedy: 'Use the result you have, change the arguments, or wait until something has changed.',
          },
        );
      }
      return {
        warnings: attempt >= warnAt ? [`This is call ${attempt} with the same arguments and the same result.`] : [],
      };
    },
  };
}
