import type { Json } from '@sallyport/contract';
import type { RecordResult } from '@sallyport/log';
import { redactQuotes } from '../redaction/quoted-secrets.ts';
import { describeCall, describeRefusal, describeStep, encodePayload, keepText } from '../audit/describe-call.ts';
import type { Payload } from '../audit/describe-call.ts';
import { describeNetwork } from '../audit/describe-network.ts';
import { keepPaths } from '../audit/keep-paths.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { CallNetworks } from '../execution/call-networks.ts';
import { Fault } from '../call/fault.ts';
import type { CallEnded } from '../call/call-ended.ts';
import type { KeptResult } from '../call/call.ts';
import { ownText } from '../call/redacted.ts';
import type { RedactedJson } from '../call/redacted.ts';
import type { Refusal } from '../call/refusal.ts';
import type { BeforeImage, ToolUsage } from '../call/tool.ts';
import type { Limits } from '../call/verdict.ts';
import type { Closer, Ending } from '../call/stage.ts';
import type { LogEntry, Misconduct, Settlement, Store } from '../storage/stores.ts';
import type { AttemptCounter } from '../audit/attempt-counter.ts';
import type { CallFacts } from './facts.ts';
import { mayHaveBegun } from './may-have-begun.ts';
import { weighMisconduct } from './weigh-misconduct.ts';

type CallEnding = Ending<CallFacts>;

const mostImages = 100;
const longestPath = 4096;

/** Writes how the call ended, whatever the ending. The answer waits for it: what was answered is on record. */
export function recordOutcome(
  store: Pick<Store, 'append' | 'settle'>,
  redactor: Redactor,
  attempts: AttemptCounter,
  quarantine: () => Limits['quarantine'],
  networks: Pick<CallNetworks, 'take'>,
): Closer<CallFacts> {
  return {
    name: 'record-outcome',
    required: true,
    run: async (ending, context) => {
      const { call } = ending;
      const nowMs = context.nowMs();
      const misconduct = weighMisconduct(ending, quarantine());
      const network = describeNetwork(networks.take(call.callId ?? ''), redactor);
      if (call.intentIndex !== undefined) {
        await settle(store, ending, { redactor, nowMs, misconduct, network });
      } else if (call.session !== undefined || attempts.isFirst(call.source ?? 'unknown', nowMs)) {
        await store.append(refusalEntry(ending, redactor, nowMs, network), misconduct);
      }
    },
  };
}

async function settle(
  store: Pick<Store, 'settle'>,
  ending: CallEnding,
  given: {
    readonly redactor: Redactor;
    readonly nowMs: number;
    readonly misconduct: Misconduct | undefined;
    readonly network: Payload;
  },
): Promise<void> {
  const { call } = ending;
  const { redactor, nowMs, misconduct, network } = given;
  const { callId = '', dedupeKey, session, execution } = call;
  const { result, what } = describeEnding(ending, redactor);
  // Only of a tool that may as well run twice the key is free again.
  const isUnknown = call.outcome?.ok !== true && mayHaveBegun(ending) && call.tool?.definition.idempotent !== true;
  const settlement: Settlement = {
    outcome: {
      ...entryOf(ending, nowMs),
      kind: 'outcome',
      result,
      callId,
      payload: encodePayload({
        intent: call.intentIndex ?? 0,
        ...describeStep(call),
        tool: keepText(call.tool?.definition.name ?? '', redactor),
        agent: ownText(session?.agent ?? ''),
        ...what,
        ...(execution?.endedBy === undefined ? {} : { ended_by: describeEnder(execution.endedBy) }),
        ...(isUnknown ? { effect: ownText('unknown') } : {}),
        started_at_ms: call.startedAtMs ?? nowMs,
        duration_ms: Math.max(0, nowMs - (call.startedAtMs ?? nowMs)),
        ...(execution === undefined ? {} : { usage: describeUsage(execution.usage) }),
        ...network,
        ...(execution?.warnings === undefined
          ? {}
          : { warnings: execution.warnings.map((warning) => keepText(warning, redactor)) }),
        ...(execution?.beforeImages.length ? { before_images: describeImages(execution.beforeImages, redactor) } : {}),
      }),
    },
    ...chargeOf(ending),
    ...planOf(ending),
    ...(misconduct === undefined ? {} : { misconduct }),
    ...(dedupeKey && session && call.reused === undefined
      ? { dedupe: { sessionId: session.id, key: dedupeKey, ...successOf(ending), isUnknown } }
      : {}),
  };
  try {
    await store.settle(settlement);
  } catch (error) {
    throw new Fault('OUTCOME_UNRECORDED', 'the outcome could not be recorded', { cause: error });
  }
}

function describeEnder({ how, by }: Pick<CallEnded, 'how' | 'by'>): Payload {
  return { how: ownText(how), by: ownText(by) };
}

/** A call that its tool refused or that failed has used its time as well. */
function chargeOf({ call }: CallEnding): Pick<Settlement, 'charge'> {
  const { session, lease, execution, confirmedAtMs, reused } = call;
  if (session === undefined || lease === undefined || confirmedAtMs === undefined || reused !== undefined) return {};
  const activeMs = call.activeMs ?? Math.ceil(performance.now() - confirmedAtMs);
  const { tokens = 0, costMicros = 0 } = execution?.usage ?? {};
  return { charge: { sessionId: session.id, leaseId: lease.id, activeMs, tokens, costMicros } };
}

function planOf({ call: { consent } }: CallEnding): Pick<Settlement, 'planId'> {
  const use = consent?.use;
  return use?.kind === 'token' && use.step !== undefined ? { planId: use.step.planId } : {};
}

function describeImages(images: readonly BeforeImage[], redactor: Redactor): RedactedJson {
  const shown = images.slice(0, mostImages);
  const paths = keepPaths(
    shown.map(({ path }) => path),
    redactor,
  );
  const described = shown.map(({ kind, kept, afterSha256 }, at): RedactedJson => ({
    kind: ownText(kind),
    path: paths[at] ?? ownText(''),
    ...(afterSha256 === undefined ? {} : { afterSha256: ownText(afterSha256) }),
    ...(kept === undefined ? {} : { kept: keepText(kept, redactor, longestPath) }),
  }));
  return images.length > mostImages ? [...described, ownText(`[${images.length - mostImages} more]`)] : described;
}

function describeUsage({ measuredBy, ...measured }: ToolUsage): RedactedJson {
  return { ...(measuredBy === undefined ? {} : { measuredBy: ownText(measuredBy) }), ...measured };
}

function successOf({ call }: CallEnding): { output?: Json; kept?: KeptResult } {
  const result = call.execution?.result;
  if (call.outcome?.ok === true && call.outcome.kept !== undefined) return { kept: call.outcome.kept };
  return call.outcome?.ok === true && result?.ok === true ? { output: result.output } : {};
}

function refusalEntry(ending: CallEnding, redactor: Redactor, nowMs: number, network: Payload): LogEntry {
  const { result, what } = describeEnding(ending, redactor);
  const payload = encodePayload({ ...describeCall(ending.call, redactor), ...what, ...network });
  return { ...entryOf(ending, nowMs), kind: 'refusal', result, payload };
}

function entryOf(ending: CallEnding, nowMs: number): Pick<LogEntry, 'timeMs' | 'callId' | 'sessionId' | 'rulesHash'> {
  const { call } = ending;
  const rulesHash = call.rules?.hash ?? (ending.kind === 'refused' ? ending.refusal.rulesHash : undefined);
  return {
    timeMs: nowMs,
    ...(call.callId === undefined ? {} : { callId: call.callId }),
    ...(call.session === undefined ? {} : { sessionId: call.session.id }),
    ...(rulesHash === undefined ? {} : { rulesHash }),
  };
}

function describeEnding(ending: CallEnding, redactor: Redactor): { result: RecordResult; what: Payload } {
  switch (ending.kind) {
    case 'refused':
      return {
        result: isPending(ending.refusal) ? 'pending' : 'denied',
        what: { refusal: describeRefusal(ending.refusal, ending.stage, redactor, ending.call) },
      };
    case 'faulted':
      return {
        result: 'fault',
        what: { fault: { stage: ownText(ending.stage), message: keepText(ending.fault.message, redactor) } },
      };
    case 'completed': {
      const { outcome } = ending.call;
      if (outcome.ok) return { result: 'ok', what: { summary: keepText(outcome.summary, redactor) } };
      const { code, textForOperators: message } = outcome.failure;
      // As after a crash: the store then keeps the dedupe key taken, so that nobody repeats the call unknowingly.
      const result = code === 'EFFECT_UNKNOWN' ? 'unknown' : 'error';
      return {
        result,
        what: {
          error: {
            code: ownText(code),
            message: keepText(message, { redactText: redactQuotes(ending.call.input, redactor) }),
          },
        },
      };
    }
  }
}

/** Nobody has said no: a person is asked, or the operator who called is. */
function isPending({ code, approval }: Refusal): boolean {
  return code === 'APPROVAL_REQUIRED' && approval !== undefined;
}
