import type { Message } from '@bufbuild/protobuf';
import { beginAnswer, endAnswer, isOver } from './grpc-call.ts';
import type { GrpcCall } from './grpc-call.ts';
import { okTrailers } from './grpc-status.ts';
import { frameMessage, FrameReader } from './message-frame.ts';
import { MessageQueue } from './message-queue.ts';
import { decodeBinary, encodeBinary } from './message-codec.ts';
import type { Method } from './method-table.ts';
import { RpcError } from './rpc-error.ts';

/** The messages of a caller who may send any number, held back while the handler is behind. */
export function receiveMessages({ stream, context }: GrpcCall, method: Method): MessageQueue<Message> {
  const queue = new MessageQueue<Message>(stream);
  const reader = new FrameReader(context.limits.maxMessageBytes, context.room);
  stream.on('data', (chunk: Buffer) => {
    try {
      for (const bytes of reader.push(chunk)) queue.push(decodeBinary(method, bytes));
    } catch (error) {
      reader.drop();
      stream.removeAllListeners('data');
      queue.end(error as Error);
    }
  });
  stream.once('end', () => {
    // Node ends a stream that was reset, too; its close says what it was.
    if (stream.aborted) return;
    queue.end(reader.midMessage ? new RpcError('invalid_argument', 'The last message is not whole.') : undefined);
  });
  stream.once('close', () => {
    reader.drop();
    queue.end(new RpcError('canceled', 'The caller cancelled the call.'));
  });
  return queue;
}

/** Sends what a handler yields, no faster than the caller takes it, and then the status. */
export async function sendMessages(
  { stream }: GrpcCall,
  method: Method,
  messages: AsyncIterable<Message>,
): Promise<void> {
  beginAnswer(stream);
  for await (const message of messages) {
    if (isOver(stream)) return;
    if (!stream.write(frameMessage(encodeBinary(method, message)))) await waitForRoom(stream);
  }
  endAnswer(stream, okTrailers);
}

function waitForRoom(stream: GrpcCall['stream']): Promise<void> {
  return new Promise((resolve) => {
    const proceed = () => {
      stream.off('drain', proceed);
      stream.off('close', proceed);
      resolve();
    };
    stream.on('drain', proceed);
    stream.on('close', proceed);
  });
}
