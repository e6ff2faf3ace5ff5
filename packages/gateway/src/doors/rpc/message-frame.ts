import type { BodyRoom } from './read-body.ts';
import { tooLarge } from './read-body.ts';
import { RpcError } from './rpc-error.ts';

/** gRPC and gRPC-Web put a flag and the length, five bytes, before each message. */
export const framePrefixBytes = 5;
const compressedFlag = 0x01;
export const trailersFlag = 0x80;

export function frameMessage(message: Uint8Array, flag = 0): Buffer {
  const frame = Buffer.allocUnsafe(framePrefixBytes + message.length);
  frame[0] = flag;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, framePrefixBytes);
  return frame;
}

/** Refuses a frame by its first bytes: one that is compressed, of an unknown kind, or longer than the limit. */
export function checkFrameStart(start: Buffer, maxMessageBytes: number): void {
  const flag = start[0] ?? 0;
  if (flag === compressedFlag) throw new RpcError('unimplemented', 'Compressed messages are not accepted.');
  if (flag !== 0) throw new RpcError('invalid_argument', `Unknown message flag ${flag}.`);
  if (start.length >= framePrefixBytes && start.readUInt32BE(1) > maxMessageBytes) throw tooLarge(maxMessageBytes);
}

/** The one message of a unary request. */
export function unframeMessage(body: Buffer, maxMessageBytes: number): Buffer {
  if (body.length < framePrefixBytes) throw new RpcError('invalid_argument', 'The request holds no whole message.');
  checkFrameStart(body, maxMessageBytes);
  const end = framePrefixBytes + body.readUInt32BE(1);
  if (body.length < end) throw new RpcError('invalid_argument', 'The message is shorter than its length says.');
  if (body.length > end) throw new RpcError('invalid_argument', 'The request holds more than one message.');
  return body.subarray(framePrefixBytes);
}

/** Cuts a stream of bytes into messages. Bytes of an unfinished message count against the room. */
export class FrameReader {
  readonly #maxMessageBytes: number;
  readonly #room: BodyRoom;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes until the frame at hand is complete, its prefix included. Undefined: the prefix has not arrived. */
  #frameBytes: number | undefined;

  constructor(maxMessageBytes: number, room: BodyRoom) {
    this.#maxMessageBytes = maxMessageBytes;
    this.#room = room;
  }

  get midMessage(): boolean {
    return this.#size > 0;
  }

  /** The messages that are complete with this chunk. Throws RpcError; nothing can be read after that. */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    this.#room.take(chunk.length);
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= (this.#frameBytes ?? framePrefixBytes)) {
      const bytes = this.#join();
      if (this.#frameBytes === undefined) {
        checkFrameStart(bytes, this.#maxMessageBytes);
        this.#frameBytes = framePrefixBytes + bytes.readUInt32BE(1);
        continue;
      }
      messages.push(bytes.subarray(framePrefixBytes, this.#frameBytes));
      this.#keep(bytes.subarray(this.#frameBytes));
    }
    return messages;
  }

  /** Gives back what unfinished bytes took. */
  drop(): void {
    this.#keep(Buffer.alloc(0));
  }

  #join(): Buffer {
    const [only] = this.#chunks;
    if (only !== undefined && this.#chunks.length === 1) return only;
    const joined = Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [joined];
    return joined;
  }

  #keep(rest: Buffer): void {
    this.#room.give(this.#size - rest.length);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    this.#frameBytes = undefined;
  }
}
