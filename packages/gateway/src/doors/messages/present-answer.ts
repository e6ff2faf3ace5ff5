import { toolNameOf } from '../../call/answer.ts';
import type { Answer } from '../../call/answer.ts';
import { cutText } from '../../call/redacted.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { CallRequest } from '../connect/read-call.ts';
import { readOutput, statusOf, warningsOf } from '../http/present-answer.ts';
import type { Presented } from '../http/present-answer.ts';

const longestName = 256;

/**
 * `tool.results`: each call with what is on record about it. Calls that were not made, because one before them did not
 * succeed, are named too.
 */
export function presentAnswers(
  answers: readonly Answer[],
  skipped: readonly CallRequest[],
  redact: RedactText,
): Presented {
  const { status, problem } = answers.at(-1) ?? {};
  return {
    status: problem === undefined ? 200 : status === 'pending' ? 202 : statusOf(problem),
    retryAfterMs: problem?.retryAfterMs,
    body: {
      type: 'tool.results',
      trace_id: answers[0]?.traceId || undefined,
      results: [
        ...answers.map(presentAnswer),
        ...skipped.map(({ requestId, name }) => ({
          call_id: requestId,
          tool: cutText(redact(name), longestName),
          status: 'skipped',
        })),
      ],
    },
  };
}

function presentAnswer(answer: Answer): object {
  const { output, problem } = answer;
  return {
    call_id: answer.requestId,
    tool: toolNameOf(answer),
    status: wordOf(answer),
    output: output && readOutput(output),
    result_hash: output?.kept?.hash,
    result_size: output?.kept?.sizeBytes,
    error: problem && {
      code: problem.code,
      message: problem.message,
      category: problem.category,
      retryable: problem.retryable,
      retry_after_ms: problem.retryAfterMs,
      remedy: problem.remedy,
      violations: problem.violations,
    },
    approval_task_id: problem?.approval?.taskId,
    warnings: warningsOf(answer),
    audit: describeAudit(answer),
  };
}

function wordOf({ status, ended }: Answer): string {
  if (status === 'success') return 'ok';
  if (status === 'pending') return 'pending_approval';
  return ended === 'refused' ? 'blocked' : 'error';
}

/** What the log says about the call, as far as its caller may know. */
function describeAudit(answer: Answer): object {
  const { verdict, consent, tool, output, problem } = answer;
  const isAllowed = answer.ended === 'completed';
  return {
    trace_id: answer.traceId || undefined,
    caller_trace_id: answer.callerTraceId,
    call_id: answer.callId || undefined,
    tool: tool?.name,
    args_hash: answer.argumentsSha256,
    decision: {
      result: isAllowed ? 'allowed' : answer.status === 'pending' ? 'pending' : 'blocked',
      reason: isAllowed ? verdict?.reason : problem?.message,
      rule_id: problem?.ruleId ?? verdict?.rule.id,
    },
    result: problem === undefined ? 'ok' : 'error',
    summary: output?.summary ?? problem?.message,
    approved_by: consent?.by,
    approved_at: consent && new Date(consent.atMs).toISOString(),
    started_at: new Date(answer.startedAtMs).toISOString(),
    ended_at: new Date(answer.endedAtMs).toISOString(),
  };
}
