import type { Readable } from 'node:stream';
import { toJson } from '@bufbuild/protobuf';
import { ContentService, ExecuteToolResponseSchema } from '@sallyport/contract';
import type { ExecuteToolResponse, ExecuteToolResponseJson, PutOutcome } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { CommandFailure } from '../../client/failure.ts';
import { RpcStream } from '../../client/rpc-stream.ts';
import type { StreamTarget } from '../../client/rpc-stream.ts';

/** Is told how far a transfer is. `total` is absent while nobody knows it. */
export type OnProgress = (bytes: number, total?: number) => void;

export interface Sent {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly answer: ExecuteToolResponseJson;
}

/** What is known about bytes before they are sent. */
export interface Declaration {
  readonly hash?: string;
  readonly sizeBytes?: number;
  /** Where the source begins. */
  readonly offset?: number;
}

const chunkBytes = 256 * 1024;

/** Sends bytes and waits for the outcome. An early answer, such as a refusal, ends the source. */
export async function sendContent(
  target: StreamTarget,
  source: Readable,
  { hash = '', sizeBytes, offset = 0 }: Declaration,
  onProgress: OnProgress,
): Promise<Sent> {
  using stream = await RpcStream.open(target, ContentService.method.put);
  const sendAll = async (): Promise<void> => {
    const size = sizeBytes === undefined ? {} : { size: BigInt(sizeBytes) };
    const header = { hash: Uint8Array.from(Buffer.from(hash, 'hex')), ...size, offset: BigInt(offset) };
    let goesOn = await stream.send({ step: { case: 'header', value: header } });
    for await (const bytes of source as AsyncIterable<Buffer>) {
      for (let at = 0; goesOn && at < bytes.length; at += chunkBytes) {
        const value = Uint8Array.from(bytes.subarray(at, at + chunkBytes));
        goesOn = await stream.send({ step: { case: 'chunk', value } });
      }
      if (!goesOn) return;
    }
    await stream.send({ step: { case: 'end', value: {} } });
    stream.finish();
  };
  const receiveAll = async (): Promise<PutOutcome | undefined> => {
    let outcome: PutOutcome | undefined;
    for await (const { step } of stream.receive()) {
      if (step.case === 'progress') onProgress(Number(step.value.received), sizeBytes);
      else if (step.case === 'outcome') outcome = step.value;
    }
    return outcome;
  };
  let isAnswered = false;
  const receiving = receiveAll().finally(() => {
    isAnswered = true;
    source.destroy();
  });
  const sending = sendAll().catch((error: unknown) => {
    if (!isAnswered) throw error;
  });
  const [outcome] = await Promise.all([receiving, sending]);
  if (outcome?.call === undefined) throw noOutcome();
  const { call, hash: stored, size } = outcome;
  return { hash: Buffer.from(stored).toString('hex'), sizeBytes: Number(size), answer: answerOf(call) };
}

/** Receives content from an offset on. `write` gets each piece; the answer says whether it was all. */
export async function receiveContent(
  target: StreamTarget,
  hash: string,
  offset: number,
  write: (bytes: Uint8Array) => Promise<void>,
  onProgress: OnProgress,
): Promise<ExecuteToolResponseJson> {
  using stream = await RpcStream.open(target, ContentService.method.get);
  await stream.send({ hash: Uint8Array.from(Buffer.from(hash, 'hex')), offset: BigInt(offset) });
  stream.finish();
  let [received, total] = [offset, 0];
  for await (const { step } of stream.receive()) {
    if (step.case === 'outcome') return answerOf(step.value);
    if (step.case === 'header') total = Number(step.value.size);
    if (step.case !== 'chunk') continue;
    await write(step.value);
    received += step.value.length;
    onProgress(received, total);
  }
  throw noOutcome();
}

function noOutcome(): CommandFailure {
  return new CommandFailure('BAD_ANSWER', exitCodes.toolError, 'The daemon gave no outcome.');
}

function answerOf(call: ExecuteToolResponse): ExecuteToolResponseJson {
  return toJson(ExecuteToolResponseSchema, call);
}
