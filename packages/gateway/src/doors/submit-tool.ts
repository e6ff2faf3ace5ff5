import { toBinary } from '@bufbuild/protobuf';
import { ExecuteToolResponseSchema } from '@sallyport/contract';
import type { CallOptions, CallReceipt, JsonObject } from '@sallyport/contract';
import type { Answer } from '../call/answer.ts';
import type { Submit } from '../call/submission.ts';
import { presentAnswer, rpcErrorOf } from './connect/present-answer.ts';
import { readCall } from './connect/read-call.ts';
import type { Peer } from './transport/peer.ts';
import type { ErrorDetail } from './transport/rpc-error.ts';

export interface ToolAnswer {
  readonly output: JsonObject;
  readonly receipt: Pick<CallReceipt, 'requestId' | 'callId'>;
}

/** The governed call of a tool behind a typed method. What is no success is thrown as an RpcError with its details. */
export async function submitTool(
  submit: Submit,
  name: string,
  args: object,
  options: CallOptions | undefined,
  peer: Peer,
): Promise<ToolAnswer> {
  const { requestId = '', confirmBinding = '', context } = options ?? {};
  const inputJson = JSON.stringify(args);
  const request = { name, inputJson, requestId, confirmBinding, context, timeoutMs: 0, dedupeKey: '' };
  const answer = await submit(readCall(request, peer));
  if (answer.problem !== undefined) throw rpcErrorOf(answer.problem, { details: detailsOf(answer) });
  return {
    output: JSON.parse(answer.output?.outputJson ?? '') as JsonObject,
    receipt: { requestId: answer.requestId, callId: answer.callId },
  };
}

function detailsOf(answer: Answer): readonly ErrorDetail[] {
  const bytes = toBinary(ExecuteToolResponseSchema, presentAnswer(answer));
  return [{ type: ExecuteToolResponseSchema.typeName, bytes }];
}
