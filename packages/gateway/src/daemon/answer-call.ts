import { describeCode } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import type { NetworkLog } from '@sallyport/sandbox';
import { askPerson, isForOperator, problemOf } from '../call/answer.ts';
import type { Answer, Problem } from '../call/answer.ts';
import { Fault } from '../call/fault.ts';
import { cutText, ownText, say } from '../call/redacted.ts';
import type { Redacted } from '../call/redacted.ts';
import type { Refusal } from '../call/refusal.ts';
import type { ToolFailure } from '../call/tool.ts';
import { mayHaveBegun } from '../closers/record-outcome.ts';
import type { CallEnding } from '../call/stage.ts';
import { redactQuotes } from '../redaction/quoted-secrets.ts';
import { redactViolations, redactRemedy } from '../redaction/redact-refusal.ts';
import type { Redactor } from '../redaction/redact.ts';

const mostNamed = 20;
const longestName = 256;

/**
 * The answer to a call. Operators read which rule stands where, and what to change. Everyone else reads the reason, what
 * they can do instead, and the call that a person can look up; never how the gate would be opened. The stages quote what
 * callers wrote whole or not at all, so that a secret is still recognised here.
 */
export function answerCall(ending: CallEnding, redactor: Redactor, endedAtMs: number): Answer {
  const { call } = ending;
  const { callerTraceId = '', traceId = '', startedAtMs = endedAtMs, execution } = call;
  const tool = call.tool?.definition;
  const problem = findProblem(ending, redactor);
  const isNamed = callerTraceId !== '' && callerTraceId !== traceId && callerTraceId.length <= longestName;
  return {
    status: statusOf(ending, problem),
    ended: ending.kind,
    requestId: call.requestId ?? '',
    callId: call.callId ?? '',
    traceId,
    callerTraceId: isNamed ? callerTraceId : undefined,
    taskId: call.taskId ?? '',
    correlationId: call.correlationId ?? '',
    session: call.session,
    askedFor: cutText(redactor.redactText(call.toolName ?? ''), longestName),
    tool,
    argumentsSha256: tool?.secretArguments === undefined ? call.arguments?.sha256 : undefined,
    verdict: call.verdict,
    consent: call.consent,
    startedAtMs,
    endedAtMs,
    activeMs: call.activeMs ?? 0,
    usage: execution?.usage,
    isReused: call.reused !== undefined,
    hasBegun: mayHaveBegun(ending),
    warnings: warningsOf(ending, redactor),
    output: ending.kind === 'completed' && ending.call.outcome.ok ? ending.call.outcome : undefined,
    problem,
  };
}

function statusOf({ kind }: CallEnding, problem: Problem | undefined): Answer['status'] {
  if (problem === undefined) return 'success';
  if (kind === 'refused' && problem.code === 'APPROVAL_REQUIRED') return 'pending';
  return problem.ruleId === undefined ? 'error' : 'denied';
}

function findProblem(ending: CallEnding, redactor: Redactor): Problem | undefined {
  switch (ending.kind) {
    case 'refused':
      return tellRefusal(ending.refusal, ending.call, redactor);
    case 'faulted':
      return tellFault(ending.fault, ending.call, mayHaveBegun(ending));
    case 'completed': {
      const { outcome } = ending.call;
      return outcome.ok ? undefined : tellFailure(outcome.failure, ending.call, redactor);
    }
  }
}

type Call = CallEnding['call'];

function tellRefusal(refusal: Refusal, call: Call, redactor: Redactor): Problem {
  const { code, rule, violations, approval } = refusal;
  const isOperator = isForOperator(call);
  const redact = redactQuotes(call.input, redactor);
  const why = redact(refusal.message);
  const isPlaced = isOperator && rule.file !== undefined;
  const message = isPlaced ? say`${why} (${ownText(rule.file)}:${rule.line ?? 1})` : why;
  const advice = isOperator ? (refusal.forOperators ?? refusal.remedy) : adviseAgent(refusal, call.callId);
  const remedy = redactRemedy(advice, call, redactor);
  if (describeCode(code).presentedAs === 'error') {
    const retryAfterMs = Math.max(0, Math.ceil(refusal.retryAfterMs ?? 0)) || undefined;
    return problemOf(code, remedy === undefined ? message : say`${message} ${remedy}`, { retryAfterMs });
  }
  const told = violations && redactViolations(violations, redact);
  return problemOf(code, message, { ruleId: rule.id, remedy, violations: told, approval });
}

function adviseAgent({ remedy, approval }: Refusal, callId = ''): string | undefined {
  // Where a task waits, a person has been asked already.
  if (approval?.taskId !== undefined || callId === '') return remedy;
  return remedy === undefined ? askPerson(callId) : `${remedy} ${askPerson(callId)}`;
}

/** Faults show their code and the call id, nothing of their cause. */
function tellFault(fault: Error, call: Call, hasBegun: boolean): Problem {
  const code: Code = fault instanceof Fault ? fault.code : 'INTERNAL';
  const { meaning, presentedAs } = describeCode(code);
  const isOperator = isForOperator(call);
  const callId = call.callId ?? '';
  if (presentedAs === 'denied') {
    const known = fault instanceof Fault ? fault.forOperators : undefined;
    const remedy = isOperator ? ownText(known ?? '`sallyport status` says why.') : askPerson(callId);
    return problemOf(code, ownText(meaning), { ruleId: 'gate', remedy });
  }
  const did = hasBegun && code !== 'OUTCOME_UNRECORDED' ? ' What it had done by then is not known.' : '';
  const advice = isOperator ? `See the log of the daemon, and \`sallyport audit show ${callId}\`.` : askPerson(callId);
  return problemOf(code, ownText(`${meaning}${did} ${advice}`));
}

function tellFailure(failure: ToolFailure, call: Call, redactor: Redactor): Problem {
  const { code, category, message, forOperators } = failure;
  const told =
    forOperators === undefined
      ? message
      : isForOperator(call)
        ? failure.textForOperators
        : `${message} ${askPerson(call.callId ?? '')}`;
  return problemOf(code, redactQuotes(call.input, redactor)(told), { category });
}

function warningsOf(ending: CallEnding, redactor: Redactor): readonly string[] {
  const { warnings = [], execution } = ending.call;
  if (ending.kind !== 'completed') return warnings;
  return [...warnings, ...(execution?.warnings ?? []), ...warnOfRefusals(execution?.network, redactor)];
}

/** Programs seldom say which host they could not reach, and the caller is who can ask for a rule. */
function warnOfRefusals(network: NetworkLog | undefined, redactor: Redactor): readonly Redacted[] {
  const hosts = network?.targetsOf('refused') ?? [];
  const more = network?.beyond.refused ?? 0;
  if (hosts.length === 0 && more === 0) return [];
  const named = hosts.slice(0, mostNamed).map((host) => redactor.redactText(host));
  const unnamed = hosts.length - named.length + more;
  const rest = unnamed === 0 ? '' : ` and ${unnamed} more`;
  return [ownText(`Sallyport refused to connect this call to ${named.join(', ')}${rest}.`)];
}
