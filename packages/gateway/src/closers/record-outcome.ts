import type { Json } from '@sallyport/contract';
import { describeCall, describeRefusal, encodePayload } from '../audit/describe-call.ts';
import type { Redactor } from '../audit/redact.ts';
import { Fault } from '../model/fault.ts';
import type { Closer, Ending } from '../pipeline/stage.ts';
import type { LogEntry, RecordResult, Settlement, Store } from '../storage/stores.ts';
import type { AttemptCounter } from './attempt-counter.ts';
import type { CallFacts } from './facts.ts';

type CallEnding = Ending<CallFacts>;

/** Writes how the call ended, whatever the ending. The answer waits for it: what was answered is on record. */
export function recordOutcome(
  store: Pick<Store, 'append' | 'settle'>,
  redactor: Redactor,
  attempts: AttemptCounter,
): Closer<CallFacts> {
  return {
    name: 'record-outcome',
    required: true,
    run: async (ending, context) => {
      const { call } = ending;
      const nowMs = context.nowMs();
      if (call.intentIndex !== undefined) {
        await settle(store, ending, redactor, nowMs);
      } else if (call.session !== undefined || attempts.isFirst(call.source ?? 'unknown', nowMs)) {
        await store.append(refusalEntry(ending, redactor, nowMs));
      }
    },
  };
}

async function settle(
  store: Pick<Store, 'settle'>,
  ending: CallEnding,
  redactor: Redactor,
  nowMs: number,
): Promise<void> {
  const { call } = ending;
  const { callId = '', dedupeKey, session, execution } = call;
  const { result, what } = describeEnding(ending, redactor);
  const settlement: Settlement = {
    outcome: {
      ...entryOf(ending, nowMs),
      kind: 'outcome',
      result,
      callId,
      payload: encodePayload({
        intent: call.intentIndex ?? 0,
        tool: call.tool?.definition.name ?? '',
        agent: session?.agent ?? '',
        ...what,
        started_at_ms: call.startedAtMs ?? nowMs,
        duration_ms: nowMs - (call.startedAtMs ?? nowMs),
        ...(execution === undefined ? {} : { usage: { ...execution.usage } as Json }),
        ...(execution?.beforeImages.length
          ? { before_images: execution.beforeImages.slice(0, 100).map((image) => ({ ...image }) as Json) }
          : {}),
      }),
    },
    ...(dedupeKey && session && call.reused === undefined
      ? { dedupe: { sessionId: session.id, key: dedupeKey, ...successOf(ending) } }
      : {}),
  };
  try {
    await store.settle(settlement);
  } catch (error) {
    throw new Fault('OUTCOME_UNRECORDED', 'the outcome could not be recorded', { cause: error });
  }
}

function successOf({ call }: CallEnding): { output?: Json } {
  const result = call.execution?.result;
  return call.outcome?.ok === true && result?.ok === true ? { output: result.output } : {};
}

function refusalEntry(ending: CallEnding, redactor: Redactor, nowMs: number): LogEntry {
  const { result, what } = describeEnding(ending, redactor);
  const payload = encodePayload({ ...describeCall(ending.call, redactor), ...what });
  return { ...entryOf(ending, nowMs), kind: 'refusal', result, payload };
}

function entryOf({ call }: CallEnding, nowMs: number): Pick<LogEntry, 'timeMs' | 'callId' | 'sessionId' | 'rulesHash'> {
  return {
    timeMs: nowMs,
    ...(call.callId === undefined ? {} : { callId: call.callId }),
    ...(call.session === undefined ? {} : { sessionId: call.session.id }),
    ...(call.rules === undefined ? {} : { rulesHash: call.rules.hash }),
  };
}

function describeEnding(
  ending: CallEnding,
  redactor: Redactor,
): { result: RecordResult; what: { [key: string]: Json } } {
  switch (ending.kind) {
    case 'refused':
      return { result: 'denied', what: { refusal: describeRefusal(ending.refusal, ending.stage, redactor) } };
    case 'faulted':
      return {
        result: 'fault',
        what: { fault: { stage: ending.stage, message: redactor.redactText(ending.fault.message.slice(0, 1000)) } },
      };
    case 'completed': {
      const { outcome } = ending.call;
      if (outcome.ok) return { result: 'ok', what: { summary: redactor.redactText(outcome.summary) } };
      const { code, message } = outcome.failure;
      return { result: 'error', what: { error: { code, message: redactor.redactText(message.slice(0, 1000)) } } };
    }
  }
}
