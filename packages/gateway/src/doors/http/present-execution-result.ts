import type { Json, Success } from '@sallyport/contract';
import type { RedactedEnding } from '../redact-ending.ts';
import { presentEnding } from '../present-ending.ts';
import { describeKept } from './describe-kept.ts';
import type { Presented } from './presented.ts';
import { readTrouble } from './read-trouble.ts';
import type { Trouble } from './read-trouble.ts';

/** The ending as a `ToolExecutionResult`: `requestId, status, data, error, metadata, executedAt`. */
export function presentExecutionResult(ending: RedactedEnding, endedAtMs: number): Presented {
  const response = presentEnding(ending, endedAtMs);
  const trouble = readTrouble(response);
  const { requestId, callId, traceId, tool, context, warnings, result } = response;
  const isPending = trouble?.code === 'APPROVAL_REQUIRED';
  return {
    // Waiting for a person is no failure in this form, so it is none of HTTP either.
    status: isPending ? 202 : (trouble?.httpStatus ?? 200),
    ...(trouble === undefined ? {} : { trouble }),
    body: {
      requestId,
      status: trouble === undefined ? 'success' : isPending ? 'pending_approval' : 'failure',
      ...(result.case === 'success' ? { data: dataOf(result.value) } : {}),
      ...(trouble === undefined || isPending ? {} : { error: trouble.message }),
      metadata: {
        executionTime: ending.call.activeMs ?? 0,
        resourceUsage: describeResources(ending),
        ...describeConsent(ending),
        tool,
        // A call that the door turned away has neither.
        callId: callId || undefined,
        traceId: traceId || undefined,
        ...(context === undefined ? {} : { context: { taskId: context.taskId, correlationId: context.correlationId } }),
        ...(result.case === 'success' && result.value.resultHash.length > 0
          ? { resultHash: result.value.resultHash.toHex(), resultSize: Number(result.value.resultSize) }
          : {}),
        ...(warnings.length === 0 ? {} : { warnings }),
        ...(trouble === undefined ? {} : describeTrouble(trouble)),
        ...(isPending
          ? { reason: trouble.message, approvalTaskId: trouble.approval?.taskId || trouble.approval?.binding }
          : {}),
      },
      executedAt: new Date(endedAtMs).toISOString(),
    },
  };
}

function dataOf({ outputJson, resultHash, resultSize }: Success): Json {
  return resultHash.length > 0 ? describeKept(resultHash, resultSize) : (JSON.parse(outputJson) as Json);
}

/** Only what was measured: a zero would be a claim. */
function describeResources({ call }: RedactedEnding): object {
  const { cpuMs, peakMemoryBytes, networkConnections } = call.execution?.usage ?? {};
  return {
    cpuTime: cpuMs,
    memoryPeak: peakMemoryBytes,
    networkCalls: networkConnections ?? (staysHere(call) ? 0 : undefined),
  };
}

/** Whether a tool ran that is a part of the gate and has no way to the network. */
function staysHere({ execution, reused, tool }: RedactedEnding['call']): boolean {
  if (execution === undefined || reused !== undefined || tool === undefined) return false;
  const { origin, audience, scopes } = tool.definition;
  return origin === undefined && audience === 'everyone' && !scopes.includes('network');
}

function describeConsent({ call: { consent } }: RedactedEnding): object {
  if (consent === undefined) return {};
  return { approvedBy: consent.by, approvedAt: new Date(consent.atMs).toISOString() };
}

function describeTrouble(trouble: Trouble): object {
  const { code, category, retryable, retryAfterMs, ruleId, remedy, violations, approval } = trouble;
  return { code, category, retryable, retryAfterMs, ruleId, remedy, violations, approval };
}
