import { create } from '@bufbuild/protobuf';
import { describeCode, ExecuteToolResponseSchema } from '@sallyport/contract';
import type { Code, ExecuteToolResponse } from '@sallyport/contract';
import { mayHaveBegun } from '../closers/may-have-begun.ts';
import { shownName } from './redact-ending.ts';
import type { RedactedEnding } from './redact-ending.ts';
import type { Outcome } from '../call/call.ts';
import { Fault } from '../call/fault.ts';
import type { ApprovalTicket, Refusal } from '../call/refusal.ts';
import type { ToolFailure, ToolUsage } from '../call/tool.ts';
import { askPerson } from './address-ending.ts';

/** How an ending looks on the wire. Faults show their code and the call id, nothing of their cause. */
export function presentEnding(ending: RedactedEnding, endedAtMs: number): ExecuteToolResponse {
  const { call } = ending;
  return create(ExecuteToolResponseSchema, {
    requestId: call.requestId ?? '',
    callId: call.callId ?? '',
    traceId: call.traceId ?? '',
    tool: call.tool?.definition.name ?? shownName(ending) ?? '',
    durationMs: BigInt(Math.max(0, endedAtMs - (call.startedAtMs ?? endedAtMs))),
    ...(call.execution === undefined ? {} : { usage: presentUsage(call.execution.usage) }),
    ...(call.taskId || call.correlationId
      ? { context: { taskId: call.taskId ?? '', correlationId: call.correlationId ?? '' } }
      : {}),
    warnings: [...(call.warnings ?? [])],
    ...(ending.kind === 'completed' && call.reused === undefined ? { charge: presentCharge(call) } : {}),
    result: presentResult(ending),
  });
}

type Result = NonNullable<Parameters<typeof create<typeof ExecuteToolResponseSchema>>[1]>['result'];

function presentResult(ending: RedactedEnding): NonNullable<Result> {
  switch (ending.kind) {
    case 'refused':
      return presentRefusal(ending.refusal);
    case 'faulted':
      return presentFault(ending.fault, ending.call, mayHaveBegun(ending));
    case 'completed': {
      const { outcome } = ending.call;
      if (outcome.ok) return presentSuccess(outcome);
      return presentFailure(outcome.failure);
    }
  }
}

function presentSuccess({ outputJson, kept }: Extract<Outcome, { readonly ok: true }>): NonNullable<Result> {
  if (kept === undefined) return { case: 'success', value: { outputJson } };
  const resultHash = Uint8Array.fromHex(kept.hash);
  return { case: 'success', value: { resultHash, resultSize: BigInt(kept.sizeBytes) } };
}

function presentRefusal(refusal: Refusal): NonNullable<Result> {
  const { code, rule, remedy = '' } = refusal;
  const { presentedAs, category, retryable } = describeCode(code);
  const message = rule.file === undefined ? refusal.message : `${refusal.message} (${rule.file}:${rule.line ?? 1})`;
  if (presentedAs === 'error') {
    const retryAfterMs = BigInt(Math.max(0, Math.ceil(refusal.retryAfterMs ?? 0)));
    const advised = remedy === '' ? message : `${message} ${remedy}`;
    return { case: 'error', value: { code, message: advised, retryable, retryAfterMs, category } };
  }
  return {
    case: 'denied',
    value: {
      ruleId: rule.id,
      rationaleCode: code,
      message,
      remedy,
      violations: (refusal.violations ?? []).map(({ field, rule: violated, message: why }) => ({
        field,
        rule: violated,
        message: why,
      })),
      ...(refusal.approval === undefined ? {} : { approval: presentTicket(refusal.approval) }),
    },
  };
}

function presentTicket({ binding, effect, taskId = '', status = 'pending', expiresAtMs = 0 }: ApprovalTicket) {
  return { binding, effect, taskId, status: taskId === '' ? '' : status, expiresAtMs: BigInt(expiresAtMs) };
}

function presentFault(
  fault: Error,
  { session, callId = '' }: RedactedEnding['call'],
  hasBegun: boolean,
): NonNullable<Result> {
  const code: Code = fault instanceof Fault ? fault.code : 'INTERNAL';
  const isOperator = session?.principal === 'operator';
  const { meaning, presentedAs, category, retryable } = describeCode(code);
  if (presentedAs === 'denied') {
    const forOperators = '`sallyport status` says why; a restart opens the gate again.';
    const remedy = isOperator ? forOperators : askPerson(callId);
    return { case: 'denied', value: { ruleId: 'gate', rationaleCode: code, message: meaning, remedy } };
  }
  const did = hasBegun && code !== 'OUTCOME_UNRECORDED' ? ' What it had done by then is not known.' : '';
  const advice = isOperator ? `See the log of the daemon, and \`sallyport audit show ${callId}\`.` : askPerson(callId);
  return { case: 'error', value: { code, message: `${meaning}${did} ${advice}`, retryable, category } };
}

function presentFailure(failure: ToolFailure): NonNullable<Result> {
  const { retryable, category } = describeCode(failure.code);
  return {
    case: 'error',
    value: { code: failure.code, message: failure.message, retryable, category: failure.category ?? category },
  };
}

/** A call costs one call, and the time, tokens and money that it used. */
function presentCharge({ activeMs = 0, execution }: RedactedEnding['call']) {
  const { tokens = 0, costMicros = 0 } = execution?.usage ?? {};
  return { calls: 1n, activeMs: BigInt(activeMs), tokens: BigInt(tokens), costMicros: BigInt(costMicros) };
}

function presentUsage(usage: ToolUsage) {
  const { measuredBy, cpuMs, peakMemoryBytes, networkConnections, bytesRead, bytesWritten } = usage;
  return {
    ...(measuredBy === undefined ? {} : { measuredBy }),
    ...(cpuMs === undefined ? {} : { cpuMs }),
    ...(peakMemoryBytes === undefined ? {} : { peakMemoryBytes: BigInt(peakMemoryBytes) }),
    ...(networkConnections === undefined ? {} : { networkConnections }),
    ...(bytesRead === undefined ? {} : { bytesRead: BigInt(bytesRead) }),
    ...(bytesWritten === undefined ? {} : { bytesWritten: BigInt(bytesWritten) }),
  };
}
