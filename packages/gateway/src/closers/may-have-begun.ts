import type { Ending } from '../call/stage.ts';
import type { CallFacts } from '../call/call.ts';

/** Whether the effect of a call may have begun, however it ended. False proves that nothing happened. */
export function mayHaveBegun(ending: Ending<CallFacts>): boolean {
  const { execution, confirmedAtMs } = ending.call;
  if (ending.kind === 'refused' && ending.refusal.hasBegun === true) return true;
  if (execution !== undefined) return execution.hasBegun;
  // Where a fault of ours hit the tool is anybody's guess.
  return ending.kind === 'faulted' && confirmedAtMs !== undefined;
}
