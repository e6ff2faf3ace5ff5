import { create } from '@bufbuild/protobuf';
import { canonicalJson, describeCode, ToolResponseSchema } from '@sallyport/contract';
import type { ExecuteToolResponse, Json, Success, ToolRequest, ToolResponse } from '@sallyport/contract';
import type { RedactedEnding } from '../redact-ending.ts';
import type { ToolFailure } from '../../call/tool.ts';
import { askPerson } from '../address-ending.ts';
import { presentEnding } from '../present-ending.ts';

/** How an ending looks on the typed wire. */
export function presentResponse(
  { requestId, tool: { case: kind } }: ToolRequest,
  ending: RedactedEnding,
): ToolResponse {
  const { result, durationMs, tool, charge, callId } = presentEnding(ending, Date.now());
  switch (result.case) {
    case 'success': {
      const delivered = deliver(kind, result.value);
      const budgetConsumed = charge?.calls ?? 0n;
      return respond(requestId, { case: 'success', value: { ...delivered, budgetConsumed, durationMs } });
    }
    case 'denied':
      return respond(requestId, presentDenial(result.value, ending, tool, callId));
    case 'error': {
      const { code, retryable, retryAfterMs } = result.value;
      const message = nameCall(result.value.message, callId);
      return respond(requestId, { case: 'error', value: { errorCode: code, message, retryable, retryAfterMs } });
    }
    case undefined:
      throw new TypeError('an ending without a result');
  }
}

/** The result as the answer carries it: its bytes, or the hash under which they were kept. */
function deliver(
  kind: ToolRequest['tool']['case'],
  success: Success,
): { resultHash: Uint8Array } | { inlineResult: Uint8Array } {
  const { resultHash, outputJson } = success;
  if (resultHash.length > 0) return { resultHash };
  const output = JSON.parse(outputJson) as Json;
  if (kind !== 'fileRead') return { inlineResult: encodeOutput(output, outputJson) };
  const { content_hash: stored, content = '' } = output as { content?: string; content_hash?: string };
  return stored === undefined
    ? { inlineResult: Buffer.from(content, 'base64') }
    : { resultHash: Uint8Array.fromHex(stored) };
}

type Result = NonNullable<Parameters<typeof create<typeof ToolResponseSchema>>[1]>['result'];
type Denied = Extract<ExecuteToolResponse['result'], { case: 'denied' }>['value'];

/** The one answer to a request, under its own id. */
export function respond(requestId: string, result: NonNullable<Result>): ToolResponse {
  return create(ToolResponseSchema, { requestId, result });
}

export function presentFailure({ code, message }: Pick<ToolFailure, 'code' | 'message'>): NonNullable<Result> {
  const { retryable } = describeCode(code);
  return { case: 'error', value: { errorCode: code, message, retryable } };
}

/** The canonical JSON of an output. */
function encodeOutput(output: Json, outputJson: string): Uint8Array {
  try {
    return Buffer.from(canonicalJson(output));
  } catch {
    // Half of a surrogate pair has no canonical form; as an escape it is still JSON.
    return Buffer.from(outputJson);
  }
}

/** The answer has no place of its own for the id of the call, which a person needs to look it up. */
function nameCall(message: string, callId: string): string {
  return callId === '' || message.includes(callId) ? message : `${message} Call ${callId}.`;
}

/** Says what this door's callers can do where the advice for others would mislead them. */
function presentDenial(denied: Denied, ending: RedactedEnding, tool: string, callId: string): NonNullable<Result> {
  const { ruleId, rationaleCode, message, remedy, violations, approval } = denied;
  const value = {
    ruleId,
    rationaleCode,
    message,
    remedy,
    violations: violations.map(({ field, rule, message: why }) => ({ field, rule, message: why })),
    ...(approval === undefined || approval.taskId === ''
      ? {}
      : { approval: { taskId: approval.taskId, status: approval.status, expiresAtMs: approval.expiresAtMs } }),
  };
  const forOperators = '`sallyport tool list` shows what there is.';
  const isOperator = ending.call.session?.principal === 'operator';
  switch (rationaleCode) {
    case 'UNKNOWN_TOOL':
      value.message = `This gate has no ${tool}: the capability is not installed.`;
      value.remedy = isOperator ? forOperators : `ListAvailableTools says what there is. ${askPerson(callId)}`;
      break;
    case 'UNAUTHENTICATED':
      value.remedy = `Send the token of a live session as session_token; an operator hands it out. ${askPerson(callId)}`;
      break;
  }
  return { case: 'denied', value };
}
