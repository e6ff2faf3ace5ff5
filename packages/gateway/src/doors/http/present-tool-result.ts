import type { Json, Success } from '@sallyport/contract';
import { shownName } from '../redact-ending.ts';
import type { RedactedEnding } from '../redact-ending.ts';
import type { ToolUsage } from '../../call/tool.ts';
import { presentEnding } from '../present-ending.ts';
import { callerTraceOf } from './caller-trace.ts';
import { describeKept } from './describe-kept.ts';
import type { Presented } from './presented.ts';
import { readTrouble } from './read-trouble.ts';
import type { Trouble } from './read-trouble.ts';

/** The ending as a `ToolResult`: `tool_name, success, output, error, latency_ms, metadata`. */
export function presentToolResult(ending: RedactedEnding, endedAtMs: number): Presented {
  const response = presentEnding(ending, endedAtMs);
  const trouble = readTrouble(response);
  const { requestId, callId, traceId, tool, warnings, result } = response;
  const usage = ending.call.execution?.usage;
  return {
    status: trouble?.httpStatus ?? 200,
    ...(trouble === undefined ? {} : { trouble }),
    body: {
      // As it was asked for; the canonical name is in the metadata.
      tool_name: shownName(ending) ?? tool,
      success: trouble === undefined,
      output: result.case === 'success' ? outputOf(result.value) : {},
      error: trouble?.message ?? null,
      latency_ms: Number(response.durationMs),
      metadata: {
        tool,
        request_id: requestId,
        // A call that the door turned away has neither.
        call_id: callId || undefined,
        trace_id: traceId || undefined,
        caller_trace_id: callerTraceOf(ending.call),
        ...(result.case === 'success' && result.value.resultHash.length > 0
          ? { result_hash: result.value.resultHash.toHex(), result_size: Number(result.value.resultSize) }
          : {}),
        ...(warnings.length === 0 ? {} : { warnings }),
        ...(usage === undefined ? {} : { usage: describeUsage(usage) }),
        ...(trouble === undefined ? {} : describeTrouble(trouble)),
      },
    },
  };
}

/** An output that is too large for an answer is named, with how to get it. */
function outputOf({ outputJson, resultHash, resultSize }: Success): Json {
  if (resultHash.length === 0) return textOrObject(outputJson === '' ? '{}' : outputJson);
  return { ...describeKept(resultHash, resultSize) };
}

/** The form knows texts and objects only; any other output is given as its JSON text. */
function textOrObject(outputJson: string): Json {
  const output = JSON.parse(outputJson) as Json;
  const fits = typeof output === 'string' || (typeof output === 'object' && output !== null && !Array.isArray(output));
  return fits ? output : outputJson;
}

function describeUsage({ cpuMs, peakMemoryBytes, networkConnections, bytesRead, bytesWritten }: ToolUsage): object {
  return {
    cpu_ms: cpuMs,
    peak_memory_bytes: peakMemoryBytes,
    network_connections: networkConnections,
    bytes_read: bytesRead,
    bytes_written: bytesWritten,
  };
}

function describeTrouble(trouble: Trouble): object {
  const { code, category, retryable, retryAfterMs, ruleId, remedy, violations, approval } = trouble;
  return { code, category, retryable, retry_after_ms: retryAfterMs, rule_id: ruleId, remedy, violations, approval };
}
