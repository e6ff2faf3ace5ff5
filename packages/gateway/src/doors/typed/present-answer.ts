import { create } from '@bufbuild/protobuf';
import { canonicalJson, describeCode, ToolResponseSchema } from '@sallyport/contract';
import type { Code, Json, ToolRequest, ToolResponse } from '@sallyport/contract';
import { askPerson, durationOf, isForOperator, problemOf, toolNameOf } from '../../call/answer.ts';
import type { Answer, Output, Problem } from '../../call/answer.ts';
import { ownText, say } from '../../call/redacted.ts';
import type { RedactedRefusal } from '../../call/refusal.ts';
import { presentTicket, presentViolations } from '../connect/present-answer.ts';

/** How an answer looks on the typed wire. */
export function presentAnswer({ requestId, tool: { case: kind } }: ToolRequest, answer: Answer): ToolResponse {
  const { output, problem, callId } = answer;
  if (output !== undefined) {
    const durationMs = BigInt(durationOf(answer));
    const budgetConsumed = answer.isReused ? 0n : 1n;
    return respond(requestId, { case: 'success', value: { ...deliver(kind, output), budgetConsumed, durationMs } });
  }
  if (problem === undefined) throw new TypeError('an answer without output and problem');
  if (problem.ruleId !== undefined) return respond(requestId, presentDenial(problem, answer));
  const { code, retryable, retryAfterMs = 0 } = problem;
  const message = nameCall(problem.message, callId);
  const value = { errorCode: code, message, retryable, retryAfterMs: BigInt(retryAfterMs) };
  return respond(requestId, { case: 'error', value });
}

/** The codes of refusals because of a malformed call. */
const formCodes: readonly Code[] = ['MALFORMED_CALL', 'MALFORMED_ARGUMENTS'];
const mostViolationsTold = 5;

type Violations = NonNullable<RedactedRefusal['violations']>;

/** What the gate said, with the violations; they are the reason itself unless another gate spoke first. */
export function asMalformed(answer: Answer, violations: Violations): Answer {
  const { ended, problem, callId } = answer;
  if (ended === 'faulted') return answer;
  if (ended === 'refused' && problem !== undefined && !formCodes.includes(problem.code)) {
    return { ...answer, problem: { ...problem, violations } };
  }
  const told = violations.slice(0, mostViolationsTold).map(({ message }) => message);
  const more = violations.length - told.length;
  const message = say`The request is not valid: ${ownText(told.join('; '))}${ownText(more > 0 ? `; and ${more} more` : '')}.`;
  const remedy = isForOperator(answer) ? undefined : askPerson(callId);
  const malformed = problemOf('MALFORMED_CALL', message, { ruleId: 'call-shape', remedy, violations });
  return { ...answer, status: 'denied', ended: 'refused', output: undefined, problem: malformed };
}

/** The result as the answer carries it: its bytes, or the hash under which they were kept. */
function deliver(
  kind: ToolRequest['tool']['case'],
  { outputJson, kept }: Output,
): { resultHash: Uint8Array } | { inlineResult: Uint8Array } {
  if (kept !== undefined) return { resultHash: Uint8Array.fromHex(kept.hash) };
  const output = JSON.parse(outputJson) as Json;
  if (kind !== 'fileRead') return { inlineResult: encodeOutput(output, outputJson) };
  const { content_hash: stored, content = '' } = output as { content?: string; content_hash?: string };
  return stored === undefined
    ? { inlineResult: Buffer.from(content, 'base64') }
    : { resultHash: Uint8Array.fromHex(stored) };
}

type Result = NonNullable<NonNullable<Parameters<typeof create<typeof ToolResponseSchema>>[1]>['result']>;

/** The one answer to a request, under its own id. */
export function respond(requestId: string, result: Result): ToolResponse {
  return create(ToolResponseSchema, { requestId, result });
}

export function presentFailure({ code, message }: { readonly code: Code; readonly message: string }): Result {
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

function presentDenial(problem: Problem, answer: Answer): Result {
  const { code, ruleId = '', message, remedy = '', approval } = problem;
  const value = {
    ...{
      ruleId,
      rationaleCode: code,
      message,
      remedy,
      ...sayHere(answer, code),
      violations: presentViolations(problem),
    },
    ...(approval?.taskId === undefined ? {} : { approval: namedTicket(approval) }),
  };
  return { case: 'denied', value };
}

/** What this door's callers can do, where the advice for others would mislead them. */
function sayHere(answer: Answer, code: Code): { readonly message?: string; readonly remedy?: string } {
  const advice = askPerson(answer.callId);
  if (code === 'UNKNOWN_TOOL') {
    const forOperators = '`sallyport tool list` shows what there is.';
    return {
      message: `This gate has no ${toolNameOf(answer)}: the capability is not installed.`,
      remedy: isForOperator(answer) ? forOperators : `ListAvailableTools lists the tools. ${advice}`,
    };
  }
  if (code !== 'UNAUTHENTICATED') return {};
  return { remedy: `Send the token of a live session as session_token; an operator gives it to you. ${advice}` };
}

function namedTicket(approval: NonNullable<Problem['approval']>) {
  const { taskId, status, expiresAtMs } = presentTicket(approval);
  return { taskId, status, expiresAtMs };
}
