import type { CallFacts } from '../call/call.ts';
import type { RedactedJson } from '../call/redacted.ts';
import type { Gathered } from '../call/stage.ts';

type Moments = Pick<
  Gathered<CallFacts>,
  'beganAtMs' | 'passedAtMs' | 'confirmedAtMs' | 'ranUntilMs' | 'slowStages' | 'reused'
>;

/**
 * Where the time of a call went, in microseconds: in the gates, until its intent was in the log, in the tool, and with its
 * result. How long the record itself takes is not known when it is written. Undefined: the call was not let through.
 */
export function describePhases(call: Moments, nowMs: number): RedactedJson | undefined {
  const { beganAtMs, passedAtMs, confirmedAtMs, slowStages } = call;
  if (beganAtMs === undefined || passedAtMs === undefined) return undefined;
  const phases: Record<string, RedactedJson> = {
    gates: inMicroseconds(passedAtMs - beganAtMs),
    log: inMicroseconds((confirmedAtMs ?? nowMs) - passedAtMs),
  };
  if (confirmedAtMs !== undefined) {
    // A result that was kept from before takes no tool.
    const ranUntilMs = call.reused === undefined ? (call.ranUntilMs ?? nowMs) : confirmedAtMs;
    phases['tool'] = inMicroseconds(ranUntilMs - confirmedAtMs);
    phases['result'] = inMicroseconds(nowMs - ranUntilMs);
  }
  // Measured only while spans are exported.
  if (slowStages !== undefined) {
    phases['slow'] = Object.fromEntries(
      slowStages.map(({ name, fromMs, toMs }) => [name, inMicroseconds(toMs - fromMs)]),
    );
  }
  return phases;
}

function inMicroseconds(ms: number): number {
  return Math.max(0, Math.round(ms * 1000));
}
