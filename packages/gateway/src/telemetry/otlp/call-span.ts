import { randomBytes } from 'node:crypto';
import { describeCode } from '@sallyport/contract';
import type { CallFacts } from '../../call/call.ts';
import { cutText } from '../../call/redacted.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { Gathered } from '../../call/stage.ts';
import type { CallEnd } from '../call-events.ts';
import { parseTracestate, spanIdOf } from '../trace-context.ts';

/** A span in the JSON of OTLP. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly flags: number;
  readonly name: string;
  /** Of our own work: INTERNAL, which the conventions want for `execute_tool`. */
  readonly kind: 1;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: 2; readonly message?: string };
}

export interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string };
}

const internal = 1;
const isError = 2;
const sampled = 0x01;
/** OTLP: whether the parent is elsewhere is known, and it is. */
const hasRemoteParent = 0x300;
const longestText = 256;

/**
 * The span of a call, after it the spans of its slow stages. All of their texts are ours, or redacted: names of tools
 * that do not exist, arguments and results are not in them.
 */
export function describeSpans(
  call: Gathered<CallFacts>,
  end: CallEnd,
  latencyMs: number,
  redact: RedactText,
): readonly Span[] {
  const { callId = '', traceId = '', callerSpan, startedAtMs = 0, beganAtMs = 0, slowStages = [], step } = call;
  const spanId = spanIdOf(callId);
  const tool = call.tool === undefined ? 'unknown' : show(call.tool.definition.name, redact);
  const nanosAt = (ms: number): string => `${Math.round((startedAtMs + ms - beganAtMs) * 1000)}000`;
  const traceState = step === undefined ? stateOf(call.tracestate, redact) : undefined;
  const whole: Span = {
    traceId,
    spanId,
    ...(callerSpan === undefined ? {} : { parentSpanId: callerSpan.spanId }),
    ...(traceState === undefined || callerSpan === undefined ? {} : { traceState }),
    flags: sampled | (callerSpan === undefined || step !== undefined ? 0x100 : hasRemoteParent),
    name: `execute_tool ${tool}`,
    kind: internal,
    startTimeUnixNano: nanosAt(beganAtMs),
    endTimeUnixNano: nanosAt(beganAtMs + latencyMs),
    attributes: attributesOf(describeCall(call, end, tool, redact)),
    status:
      end.code === undefined || end.outcome === 'pending'
        ? {}
        : { code: isError, message: describeCode(end.code).meaning },
  };
  const stages = slowStages.map(({ name, fromMs, toMs }): Span => ({
    traceId,
    spanId: randomBytes(8).toString('hex'),
    parentSpanId: spanId,
    flags: sampled | 0x100,
    name,
    kind: internal,
    startTimeUnixNano: nanosAt(fromMs),
    endTimeUnixNano: nanosAt(toMs),
    attributes: [],
    status: {},
  }));
  return [whole, ...stages];
}

function describeCall(
  { callId, requestId, session, door, mode, step, tool, reused }: Gathered<CallFacts>,
  { outcome, code, rule }: CallEnd,
  name: string,
  redact: RedactText,
): Readonly<Record<string, string | undefined>> {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': 'function',
    // The id that the agent gave the call, which is its model's where it passes that on.
    'gen_ai.tool.call.id': requestId === callId || !requestId ? undefined : show(requestId, redact),
    'gen_ai.agent.name': session && show(session.agent, redact),
    'session.id': session?.id,
    'error.type': outcome === 'pending' ? undefined : code,
    'sallyport.call.id': callId,
    'sallyport.parent_call.id': step?.parent.callId,
    'sallyport.door': door,
    'sallyport.mode': mode,
    'sallyport.outcome': outcome,
    'sallyport.rule': rule && show(rule, redact),
    'sallyport.tool.version': tool && show(tool.definition.version, redact),
    'sallyport.tool.origin': tool?.definition.origin,
    'sallyport.tool.risk': tool?.definition.risk,
    'sallyport.reused': reused === undefined ? undefined : 'true',
  };
}

export function attributesOf(values: Readonly<Record<string, string | undefined>>): readonly Attribute[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: { stringValue: value } }],
  );
}

function show(text: string, redact: RedactText): string {
  return cutText(redact(text), longestText);
}

/** Callers choose it: one that would have to be redacted is left out. */
function stateOf(tracestate: string | undefined, redact: RedactText): string | undefined {
  const state = parseTracestate(tracestate);
  return state !== undefined && redact(state) === state ? state : undefined;
}
