import type { JsonObject } from '@sallyport/contract';
import type { Submission } from '../../call/submission.ts';
import { readCall } from '../connect/read-call.ts';
import type { CallRequest } from '../connect/read-call.ts';
import type { Peer } from '../transport/peer.ts';
import {
  malformed,
  parseBody,
  readInput,
  readNumber,
  readObject,
  readText,
  readWait,
  traceparentOf,
} from './json-fields.ts';

/** Which of the two published pairs of question and answer the caller speaks. */
export type Form = 'tool-result' | 'execution-result';

export interface HttpCall {
  readonly form: Form;
  readonly request: CallRequest;
  /** The agent that the caller says it is. Absent: it does not say. */
  readonly claimedAgent?: string;
  /** The trace named in the body. Absent: the header's, or a new one. */
  readonly traceparent?: string;
  /** The same as the caller wrote it, which may be no trace id of ours. Absent: the body names none. */
  readonly callerTraceId?: string;
}

/**
 * Reads the body of a call. The name of the field that names the tool tells the form. Throws RpcError for what is
 * neither form; values that only the gate can judge pass, so that its refusal is recorded.
 */
export function parseCall(bytes: Buffer): HttpCall {
  const body = parseBody(bytes);
  const isToolCall = 'tool_name' in body;
  if (isToolCall === 'toolName' in body) {
    const found = isToolCall ? 'both' : 'neither';
    throw malformed(`Name the tool once, as "tool_name" or as "toolName"; the body has ${found}.`);
  }
  return isToolCall ? readToolCall(body) : readExecutionRequest(body);
}

function readToolCall(body: JsonObject): HttpCall {
  const traceContext = readObject(body, 'trace_ctx');
  const traceId = readText(traceContext, 'trace_id');
  const spanId = readText(traceContext, 'span_id');
  return {
    form: 'tool-result',
    request: {
      name: readText(body, 'tool_name'),
      ...readInput(body, 'arguments'),
      requestId: readText(body, 'request_id'),
      timeoutMs: readNumber(body, 'timeout_ms'),
      dedupeKey: readText(body, 'dedupe_key'),
      confirmBinding: readText(body, 'confirm_binding'),
      ...consentOf(readText(body, 'approval_task_id'), readText(body, 'confirm_token')),
      ...readWait(body, 'wait_ms'),
    },
    ...(traceId === '' ? {} : { traceparent: traceparentOf(traceId, spanId), callerTraceId: traceId }),
  };
}

function readExecutionRequest(body: JsonObject): HttpCall {
  const context = readObject(body, 'context');
  const agentId = readText(body, 'agentId');
  // When the caller asked is its own matter: the gate keeps its own time.
  readText(body, 'requestedAt');
  return {
    form: 'execution-result',
    request: {
      name: readText(body, 'toolName'),
      ...readInput(body, 'arguments'),
      requestId: readText(body, 'id'),
      timeoutMs: readNumber(body, 'timeoutMs'),
      dedupeKey: readText(body, 'dedupeKey'),
      confirmBinding: readText(body, 'confirmBinding'),
      context: { taskId: readText(context, 'taskId'), correlationId: readText(context, 'correlationId') },
      ...consentOf(
        readText(body, 'approvalTaskId') || readText(body, 'approval_task_id'),
        readText(body, 'confirmToken') || readText(body, 'confirm_token'),
      ),
      // Remedies name what a person's decision needs in one spelling, for every door.
      ...readWait(body, 'wait_ms'),
      ...readWait(body, 'waitMs'),
    },
    ...(agentId === '' ? {} : { claimedAgent: agentId }),
  };
}

export function beginCall({ request, traceparent, callerTraceId, claimedAgent }: HttpCall, peer: Peer): Submission {
  return {
    ...readCall(request, peer),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(callerTraceId === undefined ? {} : { callerTraceId }),
    ...(claimedAgent === undefined ? {} : { claimedAgent }),
  };
}

/** What a person has agreed to before. */
export function consentOf(
  approvalTaskId: string,
  confirmToken: string,
): { readonly approvalTaskId?: string; readonly confirmToken?: string } {
  return {
    ...(approvalTaskId === '' ? {} : { approvalTaskId }),
    ...(confirmToken === '' ? {} : { confirmToken }),
  };
}
