import { numberOf as toNumber, readResult } from '@sallyport/contract/client';
import { exitCodes } from '@sallyport/contract/codes';
import type { ExecuteToolResponseJson } from '@sallyport/contract';

export { toNumber };

export type CallStatus = 'success' | 'denied' | 'error' | 'pending_approval';

export const exitCodeOfStatus: Readonly<Record<CallStatus, number>> = {
  success: exitCodes.success,
  denied: exitCodes.denied,
  error: exitCodes.toolError,
  pending_approval: exitCodes.pendingApproval,
};

export function statusOf(answer: ExecuteToolResponseJson): CallStatus {
  if (answer.success !== undefined) return 'success';
  const { status } = readResult(answer);
  return status === 'stored' ? 'success' : status;
}

export function outputOf(answer: ExecuteToolResponseJson): unknown {
  return JSON.parse(answer.success?.outputJson || 'null');
}

/** Where an output is stored that was too large for the answer. Undefined: it is in the answer. */
export function keptOf(
  answer: ExecuteToolResponseJson,
): { readonly hash: string; readonly sizeBytes: number } | undefined {
  if (!answer.success?.resultHash) return undefined;
  const result = readResult(answer);
  return result.status === 'stored' ? result : undefined;
}

/** The answer to a call as scripts read it. Fields that do not apply are absent. */
export function answerToJson(answer: ExecuteToolResponseJson): object | undefined {
  const { denied, error } = answer;
  const kept = keptOf(answer);
  return dropEmpty({
    request_id: answer.requestId,
    call_id: answer.callId,
    trace_id: answer.traceId,
    tool: answer.tool,
    status: statusOf(answer),
    output: answer.success && kept === undefined ? outputOf(answer) : undefined,
    result_hash: kept?.hash,
    result_size: kept?.sizeBytes,
    denied: denied && deniedToJson(denied),
    error: error && {
      code: error.code ?? '',
      message: error.message ?? '',
      retryable: error.retryable ?? false,
      ...dropEmpty({ retry_after_ms: toNumber(error.retryAfterMs) || undefined, category: error.category }),
    },
    usage: answer.usage && usageToJson(answer.usage),
    duration_ms: toNumber(answer.durationMs),
    context:
      answer.context && dropEmpty({ task_id: answer.context.taskId, correlation_id: answer.context.correlationId }),
    warnings: answer.warnings?.length ? answer.warnings : undefined,
  });
}

function deniedToJson(denied: NonNullable<ExecuteToolResponseJson['denied']>): object {
  return {
    rule_id: denied.ruleId ?? '',
    rationale_code: denied.rationaleCode ?? '',
    message: denied.message ?? '',
    remedy: denied.remedy ?? '',
    ...dropEmpty({ violations: denied.violations, approval: denied.approval }),
  };
}

function usageToJson(usage: NonNullable<ExecuteToolResponseJson['usage']>): object | undefined {
  const { cpuMs, peakMemoryBytes, networkConnections, bytesRead, bytesWritten } = usage;
  return dropEmpty({
    cpu_ms: cpuMs,
    peak_memory_bytes: peakMemoryBytes === undefined ? undefined : Number(peakMemoryBytes),
    network_connections: networkConnections,
    bytes_read: bytesRead === undefined ? undefined : Number(bytesRead),
    bytes_written: bytesWritten === undefined ? undefined : Number(bytesWritten),
  });
}

function dropEmpty(fields: Record<string, unknown>): object | undefined {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  return present.length === 0 ? undefined : Object.fromEntries(present);
}
