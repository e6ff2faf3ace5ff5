import type { CallGauge, CallSign } from '../modes/call-gauge.ts';
import type { Closer, Ending } from '../call/stage.ts';
import type { CallFacts } from '../call/call.ts';
import { isMisdeed } from './weigh-misconduct.ts';

/** Tells the mode how calls end. What an operator does never changes it. */
export function countEnding(gauge: CallGauge): Closer<CallFacts> {
  return {
    name: 'count-ending',
    required: false,
    run: (ending, context) => {
      const { session } = ending.call;
      if (session?.principal !== 'agent') return;
      gauge.note(signOf(ending, session.id), context.nowMs());
    },
  };
}

function signOf(ending: Ending<CallFacts>, sessionId: string): CallSign {
  const risk = ending.call.tool?.definition.risk;
  const ran = ending.call.confirmedAtMs !== undefined;
  return {
    sessionId,
    failed: ending.kind === 'faulted' || (ending.kind === 'completed' && !ending.call.outcome.ok),
    violated: ending.kind === 'refused' && isMisdeed(ending.refusal.code),
    highRisk: ran && (risk === 'high' || risk === 'critical'),
  };
}
