import { create } from '@bufbuild/protobuf';
import { canonicalJson, describeCode, ToolResponseSchema } from '@sallyport/contract';
import type { ExecuteToolResponse, Json, ToolRequest, ToolResponse } from '@sallyport/contract';
import type { GatewayEnding } from '../../gateway.ts';
import { ToolFailure } from '../../model/tool.ts';
import { presentEnding } from '../present-ending.ts';

/** Where results go that are too large for an answer. */
export interface ResultStore {
  /**
   * Keeps the bytes where the session can fetch them, and returns their BLAKE3 hash (32 bytes). They are durable when
   * it resolves; it rejects with a ToolFailure when the caller should read why they could not be kept.
   */
  readonly putResult: (sessionId: string, bytes: Uint8Array) => Promise<Uint8Array>;
}

export interface ResponseParts {
  /** Absent: what is too large for an answer is an error. */
  readonly content?: ResultStore;
  /** What a success took from the budget of the session. Absent: one for each. */
  readonly costOf?: (ending: CompletedEnding) => number;
}

export type CompletedEnding = Extract<GatewayEnding, { readonly kind: 'completed' }>;

const largestInlineBytes = 1024 * 1024;

/** How an ending looks on the typed wire. Rejects when a large result could not be kept through a fault of ours. */
export async function presentResponse(
  request: ToolRequest,
  ending: GatewayEnding,
  parts: ResponseParts,
): Promise<ToolResponse> {
  const { requestId } = request;
  const { result, durationMs, tool } = presentEnding(ending, Date.now());
  switch (result.case) {
    case 'success': {
      const bytes = resultBytes(request, result.value.outputJson);
      const kept = await keepResult(bytes, ending.call.session?.id ?? '', parts.content);
      if (kept instanceof ToolFailure) return respond(requestId, presentFailure(kept));
      const budgetConsumed = BigInt(ending.kind === 'completed' ? (parts.costOf?.(ending) ?? 1) : 0);
      return respond(requestId, { case: 'success', value: { ...kept, budgetConsumed, durationMs } });
    }
    case 'denied':
      return respond(requestId, presentDenial(result.value, tool));
    case 'error': {
      const { code, message, retryable, retryAfterMs } = result.value;
      return respond(requestId, { case: 'error', value: { errorCode: code, message, retryable, retryAfterMs } });
    }
    case undefined:
      throw new TypeError('an ending without a result');
  }
}

/** The result as the answer carries it: its bytes, or the hash under which they were kept. */
async function keepResult(
  bytes: Uint8Array,
  sessionId: string,
  store: ResultStore | undefined,
): Promise<{ inlineResult: Uint8Array } | { resultHash: Uint8Array } | ToolFailure> {
  if (bytes.length <= largestInlineBytes) return { inlineResult: bytes };
  if (store === undefined) {
    const message = `The result has ${bytes.length} bytes; an answer holds ${largestInlineBytes}. Ask for less, for example with offset and limit.`;
    return new ToolFailure('TOO_LARGE', message);
  }
  try {
    return { resultHash: await store.putResult(sessionId, bytes) };
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
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

/** The bytes of the file that was read, and of anything else the canonical JSON. */
function resultBytes({ tool }: ToolRequest, outputJson: string): Uint8Array {
  const output = JSON.parse(outputJson) as Json;
  if (tool.case === 'fileRead') return Buffer.from((output as { content: string }).content, 'base64');
  try {
    return Buffer.from(canonicalJson(output));
  } catch {
    // Half of a surrogate pair has no canonical form; as an escape it is still JSON.
    return Buffer.from(outputJson);
  }
}

/** Says what this door's callers can do where the advice for others would mislead them. */
function presentDenial(denied: Denied, tool: string): NonNullable<Result> {
  const { ruleId, rationaleCode, message, remedy, violations } = denied;
  const value = {
    ruleId,
    rationaleCode,
    message,
    remedy,
    violations: violations.map(({ field, rule, message: why }) => ({ field, rule, message: why })),
  };
  switch (rationaleCode) {
    case 'UNKNOWN_TOOL':
      value.message = `This gate has no ${tool}: the capability is not installed.`;
      value.remedy = 'ListAvailableTools says what there is; an operator can install more.';
      break;
    case 'UNAUTHENTICATED':
      value.remedy = 'Send the token of a live session as session_token; `sallyport session create` makes one.';
      break;
  }
  return { case: 'denied', value };
}
