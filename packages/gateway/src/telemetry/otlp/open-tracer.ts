import type { Call } from '../../call/call.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { MetricFamily } from '../metrics/exposition.ts';
import { counter, gauge } from '../metrics/exposition.ts';
import type { Tracer } from '../tracer.ts';
import { describeSpans } from './call-span.ts';
import type { TraceSettings } from './read-settings.ts';
import { openSender } from './send-spans.ts';
import { dropReasons, SpanQueue } from './span-queue.ts';

/** A stage that took less is no span of its own: most of them take some microseconds. */
const slowMs = 1;

/** Loaded only when somebody wants spans. */
export function openTracer(settings: TraceSettings, redact: RedactText, version: string): Tracer {
  const queue = new SpanQueue(openSender(settings, version), settings);
  queue.probe();
  const isSampled: Tracer['isSampled'] = ({ traceId, callerSpan }) => settings.sampler(traceId, callerSpan);
  const endpoint = `${settings.endpoint.origin}${settings.endpoint.pathname}`;
  return {
    isSampled,
    timeStage: (call, name, fromMs) => {
      const toMs = performance.now();
      if (toMs - fromMs >= slowMs) ((call as Call).slowStages ??= []).push({ name, fromMs, toMs });
      return toMs;
    },
    ended: (call, end, latencyMs) => {
      // What has no trace was not even read as a call.
      const { traceId, callerSpan } = call;
      if (traceId === undefined || !isSampled({ traceId, callerSpan })) return;
      queue.offer(describeSpans(call, end, latencyMs, redact));
    },
    read: () => {
      const { problem, exported, dropped, isAnswered } = queue;
      const lost = dropReasons.reduce((sum, reason) => sum + dropped[reason], 0);
      const state = problem !== undefined ? 'failing' : isAnswered ? 'working' : 'starting';
      return { state, endpoint, exported, dropped: lost, problem };
    },
    metrics: () => [
      counter('sallyport_spans_exported_total', 'Spans that the receiver took.', queue.exported),
      droppedSpans(queue),
      gauge('sallyport_span_queue_length', 'Spans that wait to be sent.', queue.length),
    ],
    close: () => queue.close(),
  };
}

function droppedSpans({ dropped }: SpanQueue): MetricFamily {
  return {
    name: 'sallyport_spans_dropped_total',
    help: 'Spans that were lost, because the queue was full or the receiver did not take them.',
    type: 'counter',
    samples: dropReasons.map((reason) => ({ labels: { reason }, value: dropped[reason] })),
  };
}
