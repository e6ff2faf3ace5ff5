import { GateError } from './transport.ts';

export const prefixBytes = 5;
const lastFlag = 0x02;

/** No message, and no answer, is longer than this. */
const mostAnswerBytes = 64 * 1024 * 1024;

export interface Frame {
  /** The last frame holds no message, but how the stream ended. */
  readonly isLast: boolean;
  readonly text: string;
}

/** A message as the Connect protocol sends it in a stream: one byte of flags, four of length, then the text. */
export function frameText(text: string): Uint8Array<ArrayBuffer> {
  const bytes = encoder.encode(text);
  const framed = new Uint8Array(prefixBytes + bytes.length);
  new DataView(framed.buffer).setUint32(1, bytes.length);
  framed.set(bytes, prefixBytes);
  return framed;
}

/** Cuts what arrives, in pieces of any size, into frames. */
export class FrameReader {
  #waiting: Uint8Array[] = [];
  #size = 0;
  #wanted = prefixBytes;

  /** The frames that are whole now. Throws GateError for one that is too long, after those before it. */
  *take(chunk: Uint8Array): Generator<Frame> {
    this.#waiting.push(chunk);
    this.#size += chunk.length;
    // Joined only when a prefix or a message is complete: joining at every chunk would copy long messages many times.
    if (this.#size < this.#wanted) return;
    const joined = joinChunks(this.#waiting);
    let at = 0;
    for (;;) {
      this.#wanted = prefixBytes;
      if (joined.length - at < prefixBytes) break;
      const length = readLength(joined, at + 1);
      if (prefixBytes + length > mostAnswerBytes) throw tooLong();
      this.#wanted += length;
      const end = at + this.#wanted;
      if (joined.length < end) break;
      yield { isLast: ((joined[at] ?? 0) & lastFlag) !== 0, text: decode(joined.subarray(at + prefixBytes, end)) };
      at = end;
    }
    this.#size = joined.length - at;
    this.#waiting = this.#size === 0 ? [] : [joined.subarray(at)];
  }
}

/** Throws GateError for a frame that is too long. */
export async function* readFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const reader = new FrameReader();
  for await (const chunk of body) yield* reader.take(chunk);
}

/** A whole body as text. Throws GateError for one that is too long. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > mostAnswerBytes) throw tooLong();
    chunks.push(chunk);
  }
  return decode(joinChunks(chunks));
}

export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0];
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

function readLength(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
}

function tooLong(): GateError {
  return new GateError('bad_answer', `The answer is longer than ${mostAnswerBytes} bytes.`);
}
