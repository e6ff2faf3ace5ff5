import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { canonicalJson, isJsonObject, parseStrictJson, StrictJsonError } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { checkJsonShape } from '../rpc/check-shape.ts';
import { RpcError } from '../rpc/rpc-error.ts';
import type { CallRequest } from '../tool-service.ts';

/** Which of the two published pairs of question and answer the caller speaks. */
export type Form = 'tool-result' | 'execution-result';

export interface HttpCall {
  readonly form: Form;
  readonly request: CallRequest;
  /** The agent that the caller says it is. Absent: it does not say. */
  readonly claimedAgent?: string;
  /** The trace named in the body. Absent: the header's, or a new one. */
  readonly traceparent?: string;
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
      inputJson: readArguments(body),
      requestId: readText(body, 'request_id'),
      timeoutMs: readNumber(body, 'timeout_ms'),
      dedupeKey: readText(body, 'dedupe_key'),
      confirmBinding: readText(body, 'confirm_binding'),
    },
    ...(traceId === '' ? {} : { traceparent: traceparentOf(traceId, spanId) }),
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
      inputJson: readArguments(body),
      requestId: readText(body, 'id'),
      timeoutMs: readNumber(body, 'timeoutMs'),
      dedupeKey: readText(body, 'dedupeKey'),
      confirmBinding: readText(body, 'confirmBinding'),
      context: { taskId: readText(context, 'taskId'), correlationId: readText(context, 'correlationId') },
    },
    ...(agentId === '' ? {} : { claimedAgent: agentId }),
  };
}

function parseBody(bytes: Buffer): JsonObject {
  checkJsonShape(bytes);
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  try {
    const body = parseStrictJson(bytes.toString());
    if (isJsonObject(body)) return body;
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw malformed(`The body is not acceptable JSON: ${error.message}.`);
  }
  throw malformed('The body is not a JSON object.');
}

/** As text again: the gate reads and binds one spelling of the arguments, whatever the door. */
function readArguments(body: JsonObject): string {
  return body['arguments'] === undefined ? '' : canonicalJson(body['arguments']);
}

function readText(body: JsonObject, field: string): string {
  const value = optional(body, field) ?? '';
  return typeof value === 'string' ? value : fail(field, 'a string');
}

function readNumber(body: JsonObject, field: string): number {
  const value = optional(body, field) ?? 0;
  return typeof value === 'number' ? value : fail(field, 'a number');
}

function readObject(body: JsonObject, field: string): JsonObject {
  const value = optional(body, field) ?? {};
  return isJsonObject(value) ? value : fail(field, 'an object');
}

/** Clients whose language knows no absent field send null. */
function optional(body: JsonObject, field: string): Exclude<Json, null> | undefined {
  return body[field] ?? undefined;
}

/** A trace id may be written as a UUID. One that is no trace id at all is passed over later, as in a header. */
function traceparentOf(traceId: string, spanId: string): string {
  return `00-${traceId.replaceAll('-', '').toLowerCase()}-${spanId || randomBytes(8).toString('hex')}-01`;
}

function fail(field: string, expected: string): never {
  throw malformed(`"${field}" must be ${expected}.`);
}

function malformed(message: string): RpcError {
  return new RpcError('invalid_argument', message);
}
