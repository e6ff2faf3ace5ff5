import type { Message } from '@bufbuild/protobuf';
import type { RoomTicket } from '../body-room.ts';
import type { Exchange } from '../exchange.ts';
import { findToken } from '../find-token.ts';
import { isOver } from './grpc-call.ts';
import type { GrpcCall } from './grpc-call.ts';
import { frameMessages, FrameReader } from './message-frame.ts';
import { MessageQueue } from './message-queue.ts';
import type { MessageFormat, Yielded } from './message-codec.ts';
import type { Method } from '../method-table.ts';
import { arrivalMs, harmlessBytes, tellingBytes, tooSlow } from '../read-body.ts';
import { RpcError } from '../rpc-error.ts';

/**
 * The messages of a caller who may send any number, held back while the handler is behind. A large one is read on only
 * for a caller who is known, and once there is room for it.
 */
export function receiveMessages(
  { stream, context }: GrpcCall,
  method: Method,
  exchange: Exchange,
  format: MessageFormat,
): MessageQueue<Message> {
  const queue = new MessageQueue<Message>(stream);
  const reader = new FrameReader(context.limits.maxMessageBytes);
  /** Of the message that is being received. Undefined: it is not large. */
  let ticket: RoomTicket | undefined;
  let slow: NodeJS.Timeout | undefined;
  const { room } = context;
  const { smallOwner } = exchange;
  let smallBytes = 0;
  /** What has come of a message that is not whole, and for which there is no room of its own. */
  const countSmall = (bytes: number): void => {
    room.giveSmall(smallOwner, smallBytes);
    smallBytes = 0;
    room.takeSmall(smallOwner, bytes);
    smallBytes = bytes;
  };
  let hasEnded = false;
  const finish = (error?: Error): void => {
    hasEnded = true;
    clearTimeout(slow);
    countSmall(0);
    ticket?.release();
    stream.ignoreRest();
    queue.end(error);
  };
  const makeRoom = async (): Promise<void> => {
    const token = findToken(method.input, reader.start, format.name);
    const taken = await exchange.takeRoom(reader.expectedBytes, token);
    if (hasEnded) return taken.release();
    ticket = taken;
    limitArrival();
  };
  const limitArrival = (): void => {
    // While the handler is behind, it is not the sender who is slow.
    const check = (): void => (stream.isPaused() ? limitArrival() : finish(tooSlow()));
    slow = setTimeout(check, arrivalMs(reader.expectedBytes));
  };
  const take = (bytes: Buffer): void => {
    const message = format.decode(method, bytes);
    const taken = ticket;
    if (taken !== undefined) exchange.hold(message, () => taken.release());
    ticket = undefined;
    clearTimeout(slow);
    queue.push(message);
  };
  stream.on('data', (chunk: Buffer) => {
    try {
      for (const bytes of reader.push(chunk)) take(bytes);
      const { expectedBytes, receivedBytes } = reader;
      countSmall(ticket === undefined ? receivedBytes : 0);
      if (expectedBytes <= harmlessBytes || receivedBytes < tellingBytes || ticket !== undefined) return;
      queue.hold();
      makeRoom().then(() => hasEnded || queue.resume(), finish);
    } catch (error) {
      finish(error as Error);
    }
  });
  stream.once('end', () => {
    // Node ends a stream that was reset, too; its close says what it was.
    if (stream.aborted) return;
    finish(reader.midMessage ? new RpcError('invalid_argument', 'The last message is not whole.') : undefined);
  });
  stream.once('close', () => finish(new RpcError('canceled', 'The caller cancelled the call.')));
  return queue;
}

/** Sends what a handler yields, no faster than the caller takes it. */
export async function sendMessages(
  { stream }: GrpcCall,
  method: Method,
  messages: AsyncIterable<readonly Yielded[]>,
  format: MessageFormat,
): Promise<void> {
  for await (const ready of messages) {
    for (const piece of frameMessages(ready.map((message) => format.encode(method, message)))) {
      if (isOver(stream)) return;
      if (!stream.write(piece)) await waitForRoom(stream);
    }
  }
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
