import type { CallFacts } from '../call/call.ts';
import type { Gathered } from '../call/stage.ts';
import type { CallEnd } from './call-events.ts';
import type { MetricFamily } from './metrics/exposition.ts';

/** How the export of spans goes. */
export interface TraceExport {
  /** `starting`: nothing has been answered yet. */
  readonly state: 'starting' | 'working' | 'failing';
  /** Without credentials. */
  readonly endpoint: string;
  readonly exported: number;
  readonly dropped: number;
  /** Why the last export failed. Absent: it did not. */
  readonly problem?: string | undefined;
}

/** Makes spans of calls. What it does with them never delays or fails a call. */
export interface Tracer {
  /** As in `StageLine`. */
  readonly timeStage: (call: object, stage: string, fromMs: number) => number;
  /** Whether the trace of a call is followed. */
  readonly isSampled: (call: Pick<CallFacts, 'traceId' | 'callerSpan'>) => boolean;
  readonly ended: (call: Gathered<CallFacts>, end: CallEnd, latencyMs: number) => void;
  readonly read: () => TraceExport;
  readonly metrics: () => readonly MetricFamily[];
  /** Sends what is left, for a bounded time. */
  readonly close: () => Promise<void>;
}
