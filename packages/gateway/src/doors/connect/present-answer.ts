import { create, toBinary } from '@bufbuild/protobuf';
import { describeCode, ExecuteToolResponseSchema } from '@sallyport/contract';
import type { ExecuteToolResponse } from '@sallyport/contract';
import { durationOf, toolNameOf } from '../../call/answer.ts';
import type { Answer, Output, Problem } from '../../call/answer.ts';
import type { ApprovalTicket, Refusal } from '../../call/refusal.ts';
import type { ToolUsage } from '../../call/tool.ts';
import { RpcError } from '../transport/rpc-error.ts';

/** How an answer looks on the wire. */
export function presentAnswer(answer: Answer): ExecuteToolResponse {
  const { requestId, callId, traceId, taskId, correlationId, usage } = answer;
  return create(ExecuteToolResponseSchema, {
    requestId,
    callId,
    traceId,
    tool: toolNameOf(answer),
    durationMs: BigInt(durationOf(answer)),
    ...(usage === undefined ? {} : { usage: presentUsage(usage) }),
    ...(taskId || correlationId ? { context: { taskId, correlationId } } : {}),
    warnings: [...answer.warnings],
    ...(answer.ended === 'completed' && !answer.isReused ? { charge: presentCharge(answer) } : {}),
    result: presentResult(answer),
  });
}

/**
 * A success as JSON has it, without a message in between: to make one and to write it takes longer than all the gates.
 * It says what `presentAnswer` says. Undefined: it is another answer, or a large one that is kept elsewhere.
 */
export function writeSuccess(answer: Answer): string | undefined {
  const { output, problem, usage, taskId, correlationId, warnings } = answer;
  if (output === undefined || problem !== undefined || output.kept !== undefined) return undefined;
  return JSON.stringify({
    requestId: filled(answer.requestId),
    callId: filled(answer.callId),
    traceId: filled(answer.traceId),
    tool: filled(toolNameOf(answer)),
    durationMs: counted(durationOf(answer)),
    usage: usage && writeUsage(usage),
    context: taskId || correlationId ? { taskId: filled(taskId), correlationId: filled(correlationId) } : undefined,
    warnings: warnings.length === 0 ? undefined : warnings,
    charge: answer.ended === 'completed' && !answer.isReused ? writeCharge(answer) : undefined,
    success: { outputJson: filled(output.outputJson) },
  });
}

/** In JSON, a field with its default is left out. */
function filled(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** Numbers of 64 bits are texts in JSON. */
function counted(number: number): string | undefined {
  return number === 0 ? undefined : String(number);
}

function writeCharge({ activeMs, usage }: Answer) {
  const { tokens = 0, costMicros = 0 } = usage ?? {};
  return { calls: '1', activeMs: counted(activeMs), tokens: counted(tokens), costMicros: counted(costMicros) };
}

function writeUsage(usage: ToolUsage) {
  const { measuredBy, cpuMs, peakMemoryBytes, networkConnections, bytesRead, bytesWritten } = usage;
  return {
    cpuMs,
    peakMemoryBytes: peakMemoryBytes?.toString(),
    networkConnections,
    bytesRead: bytesRead?.toString(),
    bytesWritten: bytesWritten?.toString(),
    measuredBy,
  };
}

/**
 * Who cannot be told apart gets the transport's own answer, as clients of gRPC and HTTP expect. Throws RpcError; programs
 * find our own code in its details.
 */
export function checkKnown(answer: Answer): void {
  const { ended, problem } = answer;
  if (ended !== 'refused' || problem === undefined) return;
  if (describeCode(problem.code).connect !== 'unauthenticated') return;
  const bytes = toBinary(ExecuteToolResponseSchema, presentAnswer(answer));
  throw rpcErrorOf(problem, { details: [{ type: ExecuteToolResponseSchema.typeName, bytes }] });
}

export function rpcErrorOf(
  { code, message, remedy }: Refusal | Problem,
  more?: ConstructorParameters<typeof RpcError>[2],
): RpcError {
  return new RpcError(describeCode(code).connect, remedy === undefined ? message : `${message} ${remedy}`, more);
}

type Result = NonNullable<NonNullable<Parameters<typeof create<typeof ExecuteToolResponseSchema>>[1]>['result']>;

function presentResult({ output, problem }: Answer): Result {
  if (problem === undefined) return presentSuccess(output);
  const { code, message, category, retryable, retryAfterMs = 0, ruleId, remedy = '', approval } = problem;
  if (ruleId === undefined) {
    return { case: 'error', value: { code, message, retryable, retryAfterMs: BigInt(retryAfterMs), category } };
  }
  return {
    case: 'denied',
    value: {
      ...{ ruleId, rationaleCode: code, message, remedy, violations: presentViolations(problem) },
      ...(approval === undefined ? {} : { approval: presentTicket(approval) }),
    },
  };
}

function presentSuccess({ outputJson = '', kept }: Partial<Output> = {}): Result {
  if (kept === undefined) return { case: 'success', value: { outputJson } };
  const resultHash = Uint8Array.fromHex(kept.hash);
  return { case: 'success', value: { resultHash, resultSize: BigInt(kept.sizeBytes) } };
}

export function presentViolations({ violations = [] }: Problem) {
  return violations.map(({ field, rule, message }) => ({ field, rule, message }));
}

export function presentTicket({ binding, effect, taskId = '', status = 'pending', expiresAtMs = 0 }: ApprovalTicket) {
  return { binding, effect, taskId, status: taskId === '' ? '' : status, expiresAtMs: BigInt(expiresAtMs) };
}

/** A call costs one call, and the time, tokens and money that it used. */
function presentCharge({ activeMs, usage }: Answer) {
  const { tokens = 0, costMicros = 0 } = usage ?? {};
  return { calls: 1n, activeMs: BigInt(activeMs), tokens: BigInt(tokens), costMicros: BigInt(costMicros) };
}

function presentUsage(usage: ToolUsage) {
  const { measuredBy, cpuMs, peakMemoryBytes, networkConnections, bytesRead, bytesWritten } = usage;
  return {
    ...(measuredBy === undefined ? {} : { measuredBy }),
    ...(cpuMs === undefined ? {} : { cpuMs }),
    ...(peakMemoryBytes === undefined ? {} : { peakMemoryBytes: BigInt(peakMemoryBytes) }),
    ...(networkConnections === undefined ? {} : { networkConnections }),
    ...(bytesRead === undefined ? {} : { bytesRead: BigInt(bytesRead) }),
    ...(bytesWritten === undefined ? {} : { bytesWritten: BigInt(bytesWritten) }),
  };
}
