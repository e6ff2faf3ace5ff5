import { GateError } from './transport.ts';

const prefixBytes = 5;
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
  const bytes = new TextEncoder().encode(text);
  const framed = new Uint8Array(prefixBytes + bytes.length);
  new DataView(framed.buffer).setUint32(1, bytes.length);
  framed.set(bytes, prefixBytes);
  return framed;
}

/** Cuts what arrives, in pieces of any size, into frames. Throws GateError for one that is too long. */
export async function* readFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  let wanted = prefixBytes;
  for await (const chunk of body) {
    waiting.push(chunk);
    size += chunk.length;
    // Joined only when a prefix or a message is complete: joining at every chunk would copy long messages many times.
    while (size >= wanted) {
      const joined = joinChunks(waiting);
      const end = prefixBytes + new DataView(joined.buffer, joined.byteOffset).getUint32(1);
      if (end > mostAnswerBytes) throw tooLong();
      const isWhole = size >= end;
      if (isWhole) {
        yield { isLast: ((joined[0] ?? 0) & lastFlag) !== 0, text: decode(joined.subarray(prefixBytes, end)) };
      }
      const rest = isWhole ? joined.subarray(end) : joined;
      waiting = [rest];
      size = rest.length;
      wanted = isWhole ? prefixBytes : end;
    }
  }
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

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function tooLong(): GateError {
  return new GateError('bad_answer', `The answer is longer than ${mostAnswerBytes} bytes.`);
}
