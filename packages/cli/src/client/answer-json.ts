import { exitCodes } from '@sallyport/contract/codes';
import type { ExecuteToolResponseJson } from '@sallyport/contract';

export type CallStatus = 'success' | 'denied' | 'error' | 'pending_approval';

export const exitCodeOfStatus: Readonly<Record<CallStatus, number>> = {
  success: exitCodes.success,
  denied: exitCodes.denied,
  error: exitCodes.toolError,
  pending_approval: exitCodes.pendingApproval,
};

export function statusOf(answer: ExecuteToolResponseJson): CallStatus {
  if (answer.success !== undefined) return 'success';
  if (isPending(answer)) return 'pending_approval';
  return answer.denied === undefined ? 'error' : 'denied';
}

/** Somebody else has to agree, and was asked. */
function isPending({ denied }: ExecuteToolResponseJson): boolean {
  return denied?.rationaleCode === 'APPROVAL_REQUIRED' && (denied.approval?.taskId ?? '') !== '';
}

export function outputOf(answer: ExecuteToolResponseJson): unknown {
  return JSON.parse(answer.success?.outputJson || 'null');
}

/** The output was too large for the answer and lies in the content store. */
export function isKept(answer: ExecuteToolResponseJson): boolean {
  return (answer.success?.resultHash ?? '') !== '';
}

/** Where a kept output lies. */
export function keptOf({ success }: ExecuteToolResponseJson): { readonly hash: string; readonly sizeBytes: number } {
  // Bytes are base64 on this wire.
  const hash = Buffer.from(success?.resultHash ?? '', 'base64').toString('hex');
  return { hash, sizeBytes: toNumber(success?.resultSize) };
}

function keptToJson(answer: ExecuteToolResponseJson): object {
  if (!isKept(answer)) return {};
  const { hash, sizeBytes } = keptOf(answer);
  return { result_hash: hash, result_size: sizeBytes };
}

/** The answer to a call as scripts read it. Fields that do not apply are absent. */
export function answerToJson(answer: ExecuteToolResponseJson): object | undefined {
  const { denied, error } = answer;
  return dropEmpty({
    request_id: answer.requestId,
    call_id: answer.callId,
    trace_id: answer.traceId,
    tool: answer.tool,
    status: statusOf(answer),
    output: answer.success && !isKept(answer) ? outputOf(answer) : undefined,
    ...keptToJson(answer),
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

/** An absent 64-bit number is zero. */
export function toNumber(value: string | undefined): number {
  return Number(value ?? 0);
}

function dropEmpty(fields: Record<string, unknown>): object | undefined {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  return present.length === 0 ? undefined : Object.fromEntries(present);
}
