import type { Json } from '@sallyport/contract';
import { defaultSettings } from '../call/organisation.ts';
import type { CallFacts, Execution } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import type { ToolFailure } from '../call/tool.ts';
import type { Ending, Gathered } from '../call/stage.ts';
import { allow, argumentsOf, callOf, judgedAs, leaseOf, sessionOf, toolOf } from '../stages/facts.test-kit.ts';

/** A call that came all the way, with a tool that returned this. */
export function factsOf(more: Partial<CallFacts> = {}, output: Json = { done: true }): CallFacts {
  const execution: Execution = { result: { ok: true, output }, usage: {}, changes: [], hasBegun: false };
  return {
    ...callOf(),
    ...argumentsOf({ path: 'a' }),
    ...judgedAs(allow),
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    rawArguments: { path: 'a' },
    session: sessionOf(),
    basedOn: 0,
    tool: toolOf(),
    lease: leaseOf(),
    membership: {},
    organisation: { settings: defaultSettings, teams: [], members: [], permissions: [] },
    mode: 'NORMAL',
    warnings: [],
    reservations: [],
    releaseTurn: () => undefined,
    intentIndex: 0,
    confirmedAtMs: 0,
    execution,
    outcome: { ok: true, outputJson: JSON.stringify(output), summary: 'one note' },
    ...more,
  };
}

export function completed(more: Partial<CallFacts> = {}, output?: Json): Ending<CallFacts> {
  return { kind: 'completed', call: factsOf(more, output) };
}

/** A call whose tool failed. */
export function failed(failure: ToolFailure, more: Partial<CallFacts> = {}): Ending<CallFacts> {
  const execution: Execution = { result: { ok: false, failure }, usage: {}, changes: [], hasBegun: false };
  return completed({ execution, outcome: { ok: false, failure }, ...more });
}

export function refused(refusal: Refusal, stage: string, call: Gathered<CallFacts>): Ending<CallFacts> {
  return { kind: 'refused', call, refusal, stage };
}

export function faulted(fault: Error, stage: string, call: Gathered<CallFacts>): Ending<CallFacts> {
  return { kind: 'faulted', call, fault, stage };
}
