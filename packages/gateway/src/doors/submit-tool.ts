import { toBinary } from '@bufbuild/protobuf';
import { describeCode, ExecuteToolResponseSchema } from '@sallyport/contract';
import type { CallOptions, CallReceipt, Code, ExecuteToolResponse, JsonObject } from '@sallyport/contract';
import type { RedactedEnding } from './redact-ending.ts';
import type { Begun } from '../call/call.ts';
import { presentEnding } from './present-ending.ts';
import type { Peer } from './transport/peer.ts';
import { RpcError } from './transport/rpc-error.ts';
import { readCall } from './connect/tool-service.ts';

/** Runs a call through the gateway. */
export type Submit = (call: Omit<Begun, 'callId' | 'startedAtMs'>) => Promise<RedactedEnding>;

export interface ToolAnswer {
  readonly output: JsonObject;
  readonly receipt: Pick<CallReceipt, 'requestId' | 'callId'>;
}

/** The governed call of a tool behind a typed method. What is no success is thrown as an RpcError with its details. */
export async function submitTool(
  submit: Submit,
  name: string,
  args: JsonObject,
  options: CallOptions | undefined,
  peer: Peer,
): Promise<ToolAnswer> {
  const { requestId = '', confirmBinding = '', context } = options ?? {};
  const inputJson = JSON.stringify(args);
  const request = { name, inputJson, requestId, confirmBinding, context, timeoutMs: 0, dedupeKey: '' };
  const answer = presentEnding(await submit(readCall(request, peer)), Date.now());
  if (answer.result.case !== 'success') throw errorOf(answer);
  return {
    output: JSON.parse(answer.result.value.outputJson) as JsonObject,
    receipt: { requestId: answer.requestId, callId: answer.callId },
  };
}

function errorOf(answer: ExecuteToolResponse): RpcError {
  const details = [{ type: ExecuteToolResponseSchema.typeName, bytes: toBinary(ExecuteToolResponseSchema, answer) }];
  if (answer.result.case === 'denied') {
    const { rationaleCode, message, remedy } = answer.result.value;
    const { connect } = describeCode(rationaleCode as Code);
    return new RpcError(connect, remedy === '' ? message : `${message} ${remedy}`, { details });
  }
  const { code = 'INTERNAL', message = '' } = answer.result.case === 'error' ? answer.result.value : {};
  return new RpcError(describeCode(code as Code).connect, message, { details });
}
