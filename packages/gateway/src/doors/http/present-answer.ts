import { describeCode } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { durationOf, toolNameOf } from '../../call/answer.ts';
import type { Answer, Output, Problem } from '../../call/answer.ts';
import type { KeptResult } from '../../call/call.ts';
import type { ApprovalTicket } from '../../call/refusal.ts';
import type { Form } from './read-call.ts';

/** An answer in one of the forms, ready to be sent. */
export interface Presented {
  readonly status: number;
  /** Members that are undefined are not sent. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Absent: waiting does not help. */
  readonly retryAfterMs?: number | undefined;
}

export function presentAnswer(answer: Answer, form: Form): Presented {
  return form === 'tool-result' ? presentToolResult(answer) : presentExecutionResult(answer);
}

/** `ToolResult`: `tool_name, success, output, error, latency_ms, metadata`. */
function presentToolResult(answer: Answer): Presented {
  const { output, problem, usage } = answer;
  return {
    status: problem === undefined ? 200 : statusOf(problem),
    retryAfterMs: problem?.retryAfterMs,
    body: {
      // As it was asked for; the canonical name is in the metadata.
      tool_name: answer.askedFor,
      success: problem === undefined,
      output: output === undefined ? {} : textOrObject(output),
      error: problem?.message ?? null,
      latency_ms: durationOf(answer),
      metadata: {
        tool: toolNameOf(answer),
        request_id: answer.requestId,
        // A call that the door turned away has neither.
        call_id: answer.callId || undefined,
        trace_id: answer.traceId || undefined,
        caller_trace_id: answer.callerTraceId,
        result_hash: output?.kept?.hash,
        result_size: output?.kept?.sizeBytes,
        warnings: warningsOf(answer),
        usage: usage && {
          cpu_ms: usage.cpuMs,
          peak_memory_bytes: usage.peakMemoryBytes,
          network_connections: usage.networkConnections,
          bytes_read: usage.bytesRead,
          bytes_written: usage.bytesWritten,
        },
        code: problem?.code,
        category: problem?.category,
        retryable: problem?.retryable,
        retry_after_ms: problem?.retryAfterMs,
        rule_id: problem?.ruleId,
        remedy: problem?.remedy,
        violations: problem?.violations,
        approval: presentTicket(problem?.approval),
      },
    },
  };
}

/** `ToolExecutionResult`: `requestId, status, data, error, metadata, executedAt`. */
function presentExecutionResult(answer: Answer): Presented {
  const { taskId, correlationId, consent, usage, output, problem } = answer;
  const isPending = answer.status === 'pending';
  return {
    // In this format, waiting for a person is not a failure, so its HTTP status is not an error either.
    status: isPending ? 202 : problem === undefined ? 200 : statusOf(problem),
    retryAfterMs: problem?.retryAfterMs,
    body: {
      requestId: answer.requestId,
      status: problem === undefined ? 'success' : isPending ? 'pending_approval' : 'failure',
      data: output && readOutput(output),
      error: isPending ? undefined : problem?.message,
      metadata: {
        executionTime: answer.activeMs,
        // Only what was measured: a zero would be a claim.
        resourceUsage: {
          cpuTime: usage?.cpuMs,
          memoryPeak: usage?.peakMemoryBytes,
          networkCalls: usage?.networkConnections ?? (staysHere(answer) ? 0 : undefined),
        },
        approvedBy: consent?.by,
        approvedAt: consent && new Date(consent.atMs).toISOString(),
        tool: toolNameOf(answer),
        // A call that the door turned away has neither.
        callId: answer.callId || undefined,
        traceId: answer.traceId || undefined,
        context: taskId || correlationId ? { taskId, correlationId } : undefined,
        resultHash: output?.kept?.hash,
        resultSize: output?.kept?.sizeBytes,
        warnings: warningsOf(answer),
        code: problem?.code,
        category: problem?.category,
        retryable: problem?.retryable,
        retryAfterMs: problem?.retryAfterMs,
        ruleId: problem?.ruleId,
        remedy: problem?.remedy,
        violations: problem?.violations,
        approval: presentTicket(problem?.approval),
        reason: isPending ? problem?.message : undefined,
        approvalTaskId: isPending ? problem?.approval?.taskId || problem?.approval?.binding : undefined,
      },
      executedAt: new Date(answer.endedAtMs).toISOString(),
    },
  };
}

export function statusOf({ code }: Problem): number {
  return describeCode(code).http;
}

/** What the tool returned, or where it is stored and how to get it. */
export function readOutput({ outputJson, kept }: Output): Json {
  return kept === undefined ? (JSON.parse(outputJson) as Json) : describeKept(kept);
}

export function warningsOf({ warnings }: Answer): readonly string[] | undefined {
  return warnings.length === 0 ? undefined : warnings;
}

function describeKept({ hash, sizeBytes }: KeptResult): JsonObject {
  return {
    result_hash: hash,
    result_size: sizeBytes,
    note: 'The output is too large for an answer. Read it in pieces with the tool content.get, by its hash.',
  };
}

/** The form knows texts and objects only; any other output is given as its JSON text. */
function textOrObject(given: Output): Json {
  const output = readOutput(given);
  const fits = typeof output === 'string' || (typeof output === 'object' && output !== null && !Array.isArray(output));
  return fits ? output : given.outputJson;
}

function presentTicket(ticket: ApprovalTicket | undefined): object | undefined {
  if (ticket === undefined) return undefined;
  const { binding, effect, taskId, status = 'pending', expiresAtMs = 0 } = ticket;
  // Without a task, its own operator can confirm the call.
  if (taskId === undefined) return { binding, effect };
  return { binding, effect, taskId, status, expiresAt: new Date(expiresAtMs).toISOString() };
}

/** Whether a tool ran that is a part of the gate and has no way to the network. */
function staysHere({ usage, isReused, tool }: Answer): boolean {
  if (usage === undefined || isReused || tool === undefined) return false;
  return tool.origin === undefined && tool.audience === 'everyone' && !tool.scopes.includes('network');
}
