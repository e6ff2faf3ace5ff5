import type { Json, Success } from '@sallyport/contract';
import { cutText } from '../../call/redacted.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { RedactedEnding } from '../redact-ending.ts';
import { callerTraceOf } from '../http/caller-trace.ts';
import { describeKept } from '../http/describe-kept.ts';
import type { Presented } from '../http/presented.ts';
import { readTrouble } from '../http/read-trouble.ts';
import type { Trouble } from '../http/read-trouble.ts';
import { presentEnding } from '../present-ending.ts';
import type { CallRequest } from '../connect/tool-service.ts';

const longestName = 256;

export interface EndedCall {
  readonly ending: RedactedEnding;
  readonly endedAtMs: number;
}

/**
 * `tool.results`: each call with what is on record about it. Calls that were not made, because one before them did not
 * succeed, are named too.
 */
export function presentResults(
  ended: readonly EndedCall[],
  skipped: readonly CallRequest[],
  redact: RedactText,
): Presented {
  const results = ended.map(presentResult);
  const trouble = results.at(-1)?.trouble;
  const [first] = ended;
  return {
    status: trouble === undefined ? 200 : trouble.code === 'APPROVAL_REQUIRED' ? 202 : trouble.httpStatus,
    ...(trouble === undefined ? {} : { trouble }),
    body: {
      type: 'tool.results',
      trace_id: first?.ending.call.traceId,
      results: [
        ...results.map(({ result }) => result),
        ...skipped.map(({ requestId, name }) => ({
          call_id: requestId,
          tool: cutText(redact(name), longestName),
          status: 'skipped',
        })),
      ],
    },
  };
}

function presentResult({ ending, endedAtMs }: EndedCall): { readonly result: object; readonly trouble?: Trouble } {
  const response = presentEnding(ending, endedAtMs);
  const trouble = readTrouble(response);
  const { requestId, tool, warnings, result } = response;
  return {
    ...(trouble === undefined ? {} : { trouble }),
    result: {
      call_id: requestId,
      tool,
      status: statusOf(ending, trouble),
      ...(result.case === 'success' ? { output: outputOf(result.value) } : {}),
      ...(result.case === 'success' && result.value.resultHash.length > 0
        ? { result_hash: result.value.resultHash.toHex(), result_size: Number(result.value.resultSize) }
        : {}),
      ...(trouble === undefined ? {} : { error: describeTrouble(trouble) }),
      ...(trouble?.approval?.taskId === undefined ? {} : { approval_task_id: trouble.approval.taskId }),
      ...(warnings.length === 0 ? {} : { warnings }),
      audit: describeAudit(ending, endedAtMs, trouble),
    },
  };
}

function outputOf({ outputJson, resultHash, resultSize }: Success): Json {
  return resultHash.length > 0 ? describeKept(resultHash, resultSize) : (JSON.parse(outputJson) as Json);
}

function statusOf(ending: RedactedEnding, trouble: Trouble | undefined): string {
  if (trouble === undefined) return 'ok';
  if (trouble.code === 'APPROVAL_REQUIRED') return 'pending_approval';
  return ending.kind === 'refused' ? 'blocked' : 'error';
}

/** What the log says about the call, as far as its caller may know. */
function describeAudit({ kind, call }: RedactedEnding, endedAtMs: number, trouble: Trouble | undefined): object {
  const { verdict, consent, startedAtMs = endedAtMs, tool } = call;
  const isAllowed = kind === 'completed';
  const outcome = call.outcome?.ok === true ? call.outcome : undefined;
  return {
    trace_id: call.traceId,
    caller_trace_id: callerTraceOf(call),
    call_id: call.callId,
    tool: tool?.definition.name,
    args_hash: tool?.definition.secretArguments === undefined ? call.arguments?.sha256 : undefined,
    decision: {
      result: isAllowed ? 'allowed' : trouble?.code === 'APPROVAL_REQUIRED' ? 'pending' : 'blocked',
      reason: isAllowed ? verdict?.reason : trouble?.message,
      rule_id: trouble?.ruleId ?? verdict?.rule.id,
    },
    result: trouble === undefined ? 'ok' : 'error',
    summary: outcome?.summary ?? trouble?.message,
    ...(consent === undefined ? {} : { approved_by: consent.by, approved_at: new Date(consent.atMs).toISOString() }),
    started_at: new Date(startedAtMs).toISOString(),
    ended_at: new Date(endedAtMs).toISOString(),
  };
}

function describeTrouble({ code, message, category, retryable, retryAfterMs, remedy, violations }: Trouble): object {
  return { code, message, category, retryable, retry_after_ms: retryAfterMs, remedy, violations };
}
