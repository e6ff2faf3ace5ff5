/** The span of the caller, in the words of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  /** Absent: no tracing system has more to say. */
  readonly tracestate?: string;
}

export interface TraceOptions {
  /** Absent: the call begins a trace of its own. */
  readonly trace?: TraceContext | undefined;
}

const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const longestState = 512;

/** What can be sent as headers. A context that is not valid is left out: it must not cost the call. */
export function traceHeaders({ trace }: TraceOptions): Readonly<Record<string, string>> {
  const { traceparent = '', tracestate = '' } = trace ?? {};
  if (!traceparentForm.test(traceparent)) return {};
  const isState = tracestate !== '' && tracestate.length <= longestState && /^[\x20-\x7e]+$/.test(tracestate);
  return { traceparent, ...(isState ? { tracestate } : {}) };
}

/** The context that a program was started with: TRACEPARENT and TRACESTATE. */
export function traceOfEnvironment(environment: Readonly<Record<string, string | undefined>>): TraceOptions {
  const { TRACEPARENT: traceparent, TRACESTATE: tracestate } = environment;
  return traceparent === undefined
    ? {}
    : { trace: { traceparent, ...(tracestate === undefined ? {} : { tracestate }) } };
}
