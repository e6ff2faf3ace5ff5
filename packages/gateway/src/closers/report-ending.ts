import type { CallFacts } from '../call/call.ts';
import type { Closer } from '../call/stage.ts';
import { readEnd } from '../telemetry/call-events.ts';
import type { CallEvents } from '../telemetry/call-events.ts';
import type { EventLog } from '../telemetry/event-log.ts';
import type { CallMetrics } from '../telemetry/metrics/call-metrics.ts';
import type { Tracer } from '../telemetry/tracer.ts';

export interface EndingWatchers {
  readonly log: Pick<EventLog, 'error'>;
  readonly events: Pick<CallEvents, 'ended'>;
  readonly metrics: Pick<CallMetrics, 'count' | 'countUnreported'>;
  /** Absent: nobody wants spans. */
  readonly tracer?: Pick<Tracer, 'ended'> | undefined;
}

/** A second, of all who bring no credential that is accepted. */
const mostOfStrangers = 20;

/**
 * Tells those who watch the gate how a call ended: an event, counts, a span. Never delays an answer. Strangers who flood
 * the gate are counted, but do not push the calls of others out of the events and the queue of spans.
 */
export function reportEnding({ log, events, metrics, tracer }: EndingWatchers): Closer<CallFacts> {
  let second = 0;
  let ofStrangers = 0;
  const isFlood = (nowMs: number): boolean => {
    const now = Math.floor(nowMs / 1000);
    if (now !== second) [second, ofStrangers] = [now, 0];
    return ++ofStrangers > mostOfStrangers;
  };
  return {
    name: 'report-ending',
    required: false,
    run: (ending, context) => {
      const { call } = ending;
      const end = readEnd(ending);
      const latencyMs = Math.round((performance.now() - (call.beganAtMs ?? 0)) * 1000) / 1000;
      metrics.count(call, end, latencyMs);
      if (call.session === undefined && isFlood(context.nowMs())) return metrics.countUnreported();
      events.ended(call, end, latencyMs);
      tracer?.ended(call, end, latencyMs);
      if (ending.kind !== 'faulted') return;
      const { stage, fault: error } = ending;
      const { callId, traceId, session } = call;
      log.error('call_faulted', { call_id: callId, trace_id: traceId, session_id: session?.id, stage, error });
    },
  };
}
