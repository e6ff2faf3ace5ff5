import { toBinary } from '@bufbuild/protobuf';
import { describeCode, ExecuteToolResponseSchema } from '@sallyport/contract';
import type { CallOptions, CallReceipt, JsonObject } from '@sallyport/contract';
import type { Answer, Problem } from '../call/answer.ts';
import type { Submit } from '../call/submission.ts';
import { presentAnswer } from './connect/present-answer.ts';
import { readCall } from './connect/read-call.ts';
import type { Peer } from './transport/peer.ts';
import { RpcError } from './transport/rpc-error.ts';

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
  if (answer.problem !== undefined) throw errorOf(answer, answer.problem);
  return {
    output: JSON.parse(answer.output?.outputJson ?? '') as JsonObject,
    receipt: { requestId: answer.requestId, callId: answer.callId },
  };
}

function errorOf(answer: Answer, { code, message, remedy }: Problem): RpcError {
  const bytes = toBinary(ExecuteToolResponseSchema, presentAnswer(answer));
  const details = [{ type: ExecuteToolResponseSchema.typeName, bytes }];
  return new RpcError(describeCode(code).connect, remedy === undefined ? message : `${message} ${remedy}`, { details });
}
