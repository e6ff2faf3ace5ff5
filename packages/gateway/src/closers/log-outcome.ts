import { wholeText } from '@sallyport/contract';
import type { Closer, Ending } from '../call/stage.ts';
import type { EventLog } from '../telemetry/event-log.ts';
import type { CallFacts } from '../call/call.ts';

/** One structured event a call, for people who watch the daemon. Never delays an answer. */
export function describeOutcomes(log: EventLog): Closer<CallFacts> {
  return {
    name: 'log-outcome',
    required: false,
    run: (ending, context) => {
      const { call } = ending;
      const fields = {
        call_id: call.callId,
        trace_id: call.traceId,
        tool: call.tool?.definition.name ?? wholeText(call.toolName ?? ''),
        agent: call.session?.agent,
        latency_ms: context.nowMs() - (call.startedAtMs ?? context.nowMs()),
      };
      logEnding(log, ending, fields);
    },
  };
}

function logEnding(log: EventLog, ending: Ending<CallFacts>, fields: Record<string, unknown>): void {
  switch (ending.kind) {
    case 'refused':
      return log.info('tool_call_blocked', { ...fields, code: ending.refusal.code, rule: ending.refusal.rule.id });
    case 'faulted':
      return log.error('tool_call_failed', { ...fields, stage: ending.stage, error: ending.fault });
    case 'completed': {
      const { outcome } = ending.call;
      if (outcome.ok) return log.debug('tool_call_completed', fields);
      return log.info('tool_call_failed', { ...fields, code: outcome.failure.code });
    }
  }
}
