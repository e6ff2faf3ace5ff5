import { keepPiece, ownPiece } from './keep-piece.ts';
import { tooLarge } from '../read-body.ts';
import { RpcError } from '../rpc-error.ts';

/** gRPC and gRPC-Web put a flag and the length, five bytes, before each message. */
export const framePrefixBytes = 5;
const compressedFlag = 0x01;
export const trailersFlag = 0x80;

/** So much leaves in one piece, unless one message is larger. */
const mostBytesOfPiece = 64 * 1024;

/** Frames of messages that go out one behind the other, in few pieces. A text goes out as UTF-8. */
export function frameMessages(messages: readonly (Uint8Array | string)[]): Buffer[] {
  const pieces: Buffer[] = [];
  const lengths = messages.map((message) =>
    typeof message === 'string' ? Buffer.byteLength(message) : message.length,
  );
  for (let at = 0; at < messages.length;) {
    const first = at;
    let size = 0;
    do size += framePrefixBytes + (lengths[at++] ?? 0);
    while (at < messages.length && size + framePrefixBytes + (lengths[at] ?? 0) <= mostBytesOfPiece);
    const piece = Buffer.allocUnsafe(size);
    for (let next = first, offset = 0; next < at; next++) {
      const message = messages[next] ?? '';
      offset = piece.writeUInt32BE(lengths[next] ?? 0, piece.writeUInt8(0, offset));
      if (typeof message === 'string') piece.write(message, offset);
      else piece.set(message, offset);
      offset += lengths[next] ?? 0;
    }
    pieces.push(piece);
  }
  return pieces;
}

export function frameMessage(message: Uint8Array, flag = 0): Buffer {
  const frame = Buffer.allocUnsafe(framePrefixBytes + message.length);
  frame[0] = flag;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, framePrefixBytes);
  return frame;
}

/** The length of a frame, undefined when its start is not whole. Refuses it if compressed, unknown or too long. */
export function checkFrameStart(start: Buffer, maxMessageBytes: number): number | undefined {
  const flag = start[0] ?? 0;
  if (flag === compressedFlag) throw new RpcError('unimplemented', 'Compressed messages are not accepted.');
  if (flag !== 0) throw new RpcError('invalid_argument', `Unknown message flag ${flag}.`);
  if (start.length < framePrefixBytes) return undefined;
  const messageBytes = start.readUInt32BE(1);
  if (messageBytes > maxMessageBytes) throw tooLarge(maxMessageBytes);
  return framePrefixBytes + messageBytes;
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

/** Cuts a stream of bytes into messages. */
export class FrameReader {
  readonly #maxMessageBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes until the frame at hand is complete, its prefix included. Undefined: the prefix has not arrived. */
  #frameBytes: number | undefined;

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  get midMessage(): boolean {
    return this.#size > 0;
  }

  /** How long the message that is not whole yet will be, with its prefix. 0: not known, or none has begun. */
  get expectedBytes(): number {
    return this.#frameBytes ?? 0;
  }

  /** How much of it has come. */
  get receivedBytes(): number {
    return this.#size;
  }

  /** What has come of it, without its prefix. */
  get start(): Buffer {
    return this.#join().subarray(framePrefixBytes);
  }

  /** The messages that are complete with this chunk. Throws RpcError; nothing can be read after that. */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    this.#size += chunk.length;
    if (this.#size < this.#neededBytes) {
      keepPiece(this.#chunks, chunk);
      return messages;
    }
    this.#chunks.push(chunk);
    while (this.#size >= this.#neededBytes) {
      const bytes = this.#join();
      if (this.#frameBytes === undefined) {
        this.#frameBytes = checkFrameStart(bytes, this.#maxMessageBytes);
        continue;
      }
      messages.push(bytes.subarray(framePrefixBytes, this.#frameBytes));
      this.#keep(bytes.subarray(this.#frameBytes));
    }
    if (this.#size > 0) this.#chunks = [ownPiece(this.#join())];
    return messages;
  }

  get #neededBytes(): number {
    return this.#frameBytes ?? framePrefixBytes;
  }

  #join(): Buffer {
    const [only] = this.#chunks;
    if (only !== undefined && this.#chunks.length === 1) return only;
    const joined = Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [joined];
    return joined;
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    this.#frameBytes = undefined;
  }
}
