import { judgeLeavings } from '../../policy/judge/leavings.ts';
import type { PathJudge, ToolContext } from '../../call/tool.ts';
import { Sweeps } from './sweeps.ts';

/** What a context needs to run programs, where the rules are those of the test. */
export function openLeavings(
  write: PathJudge = { judge: () => undefined },
): Pick<ToolContext, 'leavings' | 'sweeps' | 'warn'> {
  const caller = { principal: 'agent', agent: 'tester', mode: 'NORMAL', consented: false } as const;
  return { leavings: judgeLeavings({ write, caller }), sweeps: new Sweeps(), warn: () => undefined };
}
