import type { Socket } from 'node:net';
import { defaultFrameBytes, frameFlags, frameHeadBytes, frameTypes } from './frames.ts';

const blockBytes = 64 * 1024;
/** Blocks that the kernel has taken, for whichever connection writes next. */
const spare: Buffer[] = [];
const mostSpare = 4;

/** Collects frames, and sends those of a turn of the event loop with one call of the kernel. */
export class Outbox {
  readonly #socket: Socket;
  readonly #onFlush: () => void;
  #block: Buffer | undefined;
  #size = 0;
  #isDue = false;

  /** `onFlush` is called when what was written in a turn is on its way. */
  constructor(socket: Socket, onFlush: () => void) {
    this.#socket = socket;
    this.#onFlush = onFlush;
  }

  /** A frame that fits into one block. `payload` is copied. */
  frame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    const { length } = payload;
    const block = this.#reserve(frameHeadBytes + length);
    const at = this.#size;
    block[at] = length >>> 16;
    block[at + 1] = (length >>> 8) & 0xff;
    block[at + 2] = length & 0xff;
    block[at + 3] = type;
    block[at + 4] = flags;
    block.writeUInt32BE(streamId, at + 5);
    block.set(payload, at + frameHeadBytes);
    this.#size = at + frameHeadBytes + length;
  }

  /** The head of an answer, or its trailers. */
  head(streamId: number, block: Uint8Array, isLast: boolean): void {
    let at = 0;
    do {
      const piece = block.subarray(at, at + defaultFrameBytes);
      const type = at === 0 ? frameTypes.headers : frameTypes.continuation;
      const endStream = at === 0 && isLast ? frameFlags.endStream : 0;
      at += piece.length;
      this.frame(type, endStream | (at === block.length ? frameFlags.endHeaders : 0), streamId, piece);
    } while (at < block.length);
  }

  data(streamId: number, bytes: Uint8Array, isLast: boolean): void {
    let at = 0;
    do {
      const piece = bytes.length <= defaultFrameBytes ? bytes : bytes.subarray(at, at + defaultFrameBytes);
      at += piece.length;
      this.frame(frameTypes.data, isLast && at === bytes.length ? frameFlags.endStream : 0, streamId, piece);
    } while (at < bytes.length);
  }

  /** A frame that says nothing but numbers. */
  numbers(type: number, streamId: number, ...values: readonly number[]): void {
    const payload = Buffer.allocUnsafe(4 * values.length);
    values.forEach((value, index) => payload.writeUInt32BE(value, 4 * index));
    this.frame(type, 0, streamId, payload);
  }

  /** `onFlush` is called at the end of this turn, even if nothing is written. */
  schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    // After all that is ready now: calls that end together are answered together.
    process.nextTick(() => {
      this.#isDue = false;
      this.flush();
      this.#onFlush();
    });
  }

  flush(): void {
    const [block, size] = [this.#block, this.#size];
    if (block === undefined) return;
    this.#block = undefined;
    this.#size = 0;
    const socket = this.#socket;
    if (socket.writable) {
      // A reader who is behind must not make a block wait for each few bytes.
      const isBehind = socket.writableLength > 0;
      socket.write(isBehind ? Buffer.from(block.subarray(0, size)) : block.subarray(0, size));
      if (!isBehind && socket.writableLength > 0) return;
    }
    if (spare.length < mostSpare) spare.push(block);
  }

  #reserve(bytes: number): Buffer {
    if (this.#block !== undefined && this.#size + bytes > blockBytes) this.flush();
    this.schedule();
    return (this.#block ??= spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes));
  }
}
