import type { RecordResult } from '@sallyport/log';
import { redactQuotes } from '../redaction/quoted-secrets.ts';
import { describeCall, describeRefusal, encodePayload, keepText, describeNetwork } from '../audit/describe-call.ts';
import type { Payload } from '../audit/describe-call.ts';
import { describePhases } from '../audit/describe-phases.ts';
import { keepPaths } from '../audit/keep-paths.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { CallNetworks } from '../execution/call-networks.ts';
import { Fault } from '../call/fault.ts';
import type { CallEnded } from '../call/call-ended.ts';
import type { CallFacts, KeptResult } from '../call/call.ts';
import { ownText } from '../call/redacted.ts';
import type { RedactedJson } from '../call/redacted.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Change, EntryState } from '../call/journal.ts';
import type { ToolUsage } from '../call/tool.ts';
import type { Limits } from '../call/verdict.ts';
import type { Closer, Ending } from '../call/stage.ts';
import type { LogEntry, Misconduct, Settlement, Store } from '../storage/stores.ts';
import type { AttemptCounter } from '../audit/attempt-counter.ts';
import type { ResultSeal } from '../secrets/result-seal.ts';
import { weighMisconduct } from './weigh-misconduct.ts';

type CallEnding = Ending<CallFacts>;

const mostChanges = 100;

export interface OutcomeParts {
  readonly store: Pick<Store, 'append' | 'settle'>;
  readonly redactor: Redactor;
  readonly attempts: AttemptCounter;
  readonly quarantine: () => Limits['quarantine'];
  readonly networks: Pick<CallNetworks, 'take'>;
  readonly resultSeal: Pick<ResultSeal, 'seal'>;
}

/** Writes how the call ended, whatever the ending. The answer waits for it: what was answered is on record. */
export function recordOutcome(parts: OutcomeParts): Closer<CallFacts> {
  const { store, redactor, attempts, quarantine, networks, resultSeal: seal } = parts;
  return {
    name: 'record-outcome',
    required: true,
    run: (ending, context) => {
      const { call } = ending;
      const nowMs = context.nowMs();
      const told = {
        nowMs,
        redactor,
        misconduct: weighMisconduct(ending, quarantine()),
        network: describeNetwork(networks.take(call.callId ?? ''), redactor),
        seal,
      };
      if (call.intentIndex !== undefined) return settle(store, settlementOf(ending, told));
      if (call.session === undefined && !attempts.isFirst(call.source ?? 'unknown', nowMs)) return undefined;
      return store.append(refusalEntry(ending, told), told.misconduct).then(ignore);
    },
  };
}

const ignore = (): void => undefined;

/** What the record needs besides the ending. */
interface Told {
  readonly nowMs: number;
  readonly redactor: Redactor;
  readonly misconduct: Misconduct | undefined;
  readonly network: Payload | undefined;
  readonly seal: Pick<ResultSeal, 'seal'>;
}

async function settle(store: Pick<Store, 'settle'>, settlement: Settlement): Promise<void> {
  try {
    await store.settle(settlement);
  } catch (error) {
    throw new Fault('OUTCOME_UNRECORDED', 'the outcome could not be recorded', { cause: error });
  }
}

function settlementOf(ending: CallEnding, told: Told): Settlement {
  const { nowMs, redactor, misconduct, network } = told;
  const { call } = ending;
  const { callId = '', dedupeKey, session, execution, startedAtMs = nowMs } = call;
  const { result, refusal, fault, summary, error } = describeEnding(ending, redactor);
  // The key becomes free again only if the tool may safely run twice.
  const isUnknown = call.outcome?.ok !== true && mayHaveBegun(ending) && call.tool?.definition.idempotent !== true;
  const payload: Payload = {
    intent: call.intentIndex ?? 0,
    parent_call_id: call.step && ownText(call.step.parent.callId),
    step: call.step && ownText(call.step.id),
    tool: keepText(call.tool?.definition.name ?? '', redactor),
    agent: ownText(session?.agent ?? ''),
    refusal,
    fault,
    summary,
    error,
    ended_by: execution?.endedBy && describeEnder(execution.endedBy),
    effect: isUnknown ? ownText('unknown') : undefined,
    started_at_ms: startedAtMs,
    duration_ms: Math.max(0, nowMs - startedAtMs),
    phases_us: describePhases(call, performance.now()),
    usage: execution && describeUsage(execution.usage),
    ...network,
    warnings: execution?.warnings?.map((warning) => keepText(warning, redactor)),
    changes: execution?.changes.length ? describeChanges(execution.changes, redactor) : undefined,
  };
  return {
    outcome: {
      timeMs: nowMs,
      kind: 'outcome',
      result,
      callId,
      sessionId: session?.id,
      rulesHash: rulesHashOf(ending),
      payload: encodePayload(payload),
    },
    charge: chargeOf(ending),
    planId: planOf(ending),
    misconduct,
    dedupe:
      dedupeKey && session && call.reused === undefined
        ? { sessionId: session.id, key: dedupeKey, ...successOf(ending, told), isUnknown }
        : undefined,
  };
}

function describeEnder({ how, by }: Pick<CallEnded, 'how' | 'by'>): RedactedJson {
  return { how: ownText(how), by: ownText(by) };
}

/** A call that its tool refused or that failed has used its time as well. */
function chargeOf({ call }: CallEnding): Settlement['charge'] {
  const { session, lease, execution, confirmedAtMs, reused } = call;
  if (session === undefined || lease === undefined || confirmedAtMs === undefined || reused !== undefined)
    return undefined;
  const activeMs = call.activeMs ?? Math.ceil(performance.now() - confirmedAtMs);
  const { tokens = 0, costMicros = 0 } = execution?.usage ?? {};
  return { sessionId: session.id, leaseId: lease.id, activeMs, tokens, costMicros };
}

function planOf({ call: { consent } }: CallEnding): string | undefined {
  const use = consent?.use;
  return use?.kind === 'token' ? use.step?.planId : undefined;
}

/** What an auditor wants to know of them; the journal has all of it. */
function describeChanges(changes: readonly Change[], redactor: Redactor): RedactedJson {
  const shown = changes.slice(0, mostChanges);
  const paths = keepPaths(
    shown.map(({ path }) => path),
    redactor,
  );
  const described = shown.map(({ before, after }, at): RedactedJson => ({
    path: paths[at] ?? ownText(''),
    before: describeState(before),
    after: describeState(after),
  }));
  return changes.length > mostChanges ? [...described, ownText(`[${changes.length - mostChanges} more]`)] : described;
}

function describeState(state: EntryState): RedactedJson {
  const hash = 'sha256' in state ? state.sha256 : undefined;
  return hash === undefined ? ownText(state.kind) : ownText(`${state.kind} ${hash}`);
}

function describeUsage({ measuredBy, ...measured }: ToolUsage): RedactedJson {
  return { ...(measuredBy === undefined ? {} : { measuredBy: ownText(measuredBy) }), ...measured };
}

function successOf({ call }: CallEnding, { seal }: Told): { sealedOutput?: Uint8Array; kept?: KeptResult } {
  const result = call.execution?.result;
  if (call.outcome?.ok === true && call.outcome.kept !== undefined) return { kept: call.outcome.kept };
  if (call.outcome?.ok !== true || result?.ok !== true) return {};
  return { sealedOutput: seal.seal(call.callId ?? '', result.output) };
}

function refusalEntry(ending: CallEnding, { nowMs, redactor, network }: Told): LogEntry {
  const { result, ...what } = describeEnding(ending, redactor);
  const payload = encodePayload({ ...describeCall(ending.call, redactor), ...what, ...network });
  const { callId, session } = ending.call;
  const rulesHash = rulesHashOf(ending);
  return { timeMs: nowMs, kind: 'refusal', result, callId, sessionId: session?.id, rulesHash, payload };
}

function rulesHashOf(ending: CallEnding): string | undefined {
  return ending.call.rules?.hash ?? (ending.kind === 'refused' ? ending.refusal.rulesHash : undefined);
}

interface Described extends Partial<Record<'refusal' | 'fault' | 'summary' | 'error', RedactedJson>> {
  readonly result: RecordResult;
}

function describeEnding(ending: CallEnding, redactor: Redactor): Described {
  switch (ending.kind) {
    case 'refused': {
      const refusal = describeRefusal(ending.refusal, ending.stage, redactor, ending.call);
      return { result: isPending(ending.refusal) ? 'pending' : 'denied', refusal };
    }
    case 'faulted':
      return {
        result: 'fault',
        fault: { stage: ownText(ending.stage), message: keepText(ending.fault.message, redactor) },
      };
    case 'completed': {
      const { outcome } = ending.call;
      if (outcome.ok) return { result: 'ok', summary: keepText(outcome.summary, redactor) };
      const { code, textForOperators: message } = outcome.failure;
      return {
        // As after a crash: the store then keeps the dedupe key taken, so that nobody repeats the call unknowingly.
        result: code === 'EFFECT_UNKNOWN' ? 'unknown' : 'error',
        error: {
          code: ownText(code),
          message: keepText(message, { redactText: redactQuotes(ending.call.input, redactor) }),
        },
      };
    }
  }
}

/** Nobody has said no: a person is asked, or the operator who called is. */
export function isPending({ code, approval }: Refusal): boolean {
  return code === 'APPROVAL_REQUIRED' && approval !== undefined;
}

/** Whether the effect of a call may have begun, however it ended. False proves that nothing happened. */
export function mayHaveBegun(ending: Ending<CallFacts>): boolean {
  const { execution, confirmedAtMs } = ending.call;
  if (ending.kind === 'refused' && ending.refusal.hasBegun === true) return true;
  if (execution !== undefined) return execution.hasBegun;
  // Where a fault of ours hit the tool is anybody's guess.
  return ending.kind === 'faulted' && confirmedAtMs !== undefined;
}
