import { randomBytes } from 'node:crypto';
import type { Program } from '../program.ts';

/** The variable with the sign that a program puts before its answer. */
export const answerVariable = 'SALLYPORT_ANSWER';

/** No text in JSON begins with it. */
const frameStart = 0x1e;
const lineBreak = 0x0a;
/** A sign, a length in decimal digits, and what is around them. */
const longestHead = 1 + 32 + 1 + 12 + 1;

/**
 * `plain`: what it prints is what it has to say, and its end is the end. `spoiled`: it began to answer, and what it
 * wrote is not one answer.
 */
export type AnswerState = 'none' | 'plain' | 'begun' | 'complete' | 'spoiled';

/**
 * Reads the answer of a program from its standard output: the byte 0x1e, the sign that it was given, a blank, the
 * length of the answer in bytes, a line break, and the answer. Then nothing may follow. The sign is made for one
 * process: what was prepared elsewhere, or comes from somebody who was not told, is no answer.
 */
export class AnswerReader {
  readonly sign = randomBytes(16).toString('hex');
  #state: AnswerState = 'none';
  #head = '';
  #leftBytes = 0;

  get state(): AnswerState {
    return this.#state;
  }

  /** What of the next bytes belongs to the output or to the answer. */
  take(bytes: Uint8Array): Uint8Array {
    if (this.#state === 'none' && bytes.length > 0) this.#state = bytes[0] === frameStart ? 'begun' : 'plain';
    if (this.#state === 'plain') return bytes;
    const rest = this.#state === 'begun' && !this.#head.endsWith('\n') ? this.#takeHead(bytes) : bytes;
    return this.#takeBody(rest);
  }

  /** The program has ended by itself, so no more will come. */
  finish(): void {
    if (this.#state === 'begun') this.#state = 'spoiled';
  }

  #takeHead(bytes: Uint8Array): Uint8Array {
    const end = bytes.indexOf(lineBreak);
    const part = end === -1 ? bytes : bytes.subarray(0, end + 1);
    this.#head += Buffer.from(part.subarray(0, longestHead + 1)).toString('latin1');
    if (end !== -1 || this.#head.length > longestHead) this.#readHead();
    return bytes.subarray(part.length);
  }

  #readHead(): void {
    const [, sign, length] = /^\u001e([0-9a-f]{32}) ([0-9]{1,12})\n$/.exec(this.#head) ?? [];
    if (sign !== this.sign) this.#state = 'spoiled';
    this.#leftBytes = Number(length);
    if (this.#leftBytes === 0 && this.#state === 'begun') this.#state = 'complete';
  }

  #takeBody(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0) return bytes;
    if (this.#state !== 'begun' || bytes.length > this.#leftBytes) this.#state = 'spoiled';
    if (this.#state === 'spoiled') return new Uint8Array();
    this.#leftBytes -= bytes.length;
    if (this.#leftBytes === 0) this.#state = 'complete';
    return bytes;
  }
}

/** Nothing that an answer cuts short may reach beyond the sandbox. */
export function mayAnswer({
  mayAnswer: isAsked = false,
  isolation,
  hosts,
  unixSockets = false,
  mounts,
}: Program): boolean {
  const isShut = hosts.length === 0 && !unixSockets && mounts.every(({ access }) => access === 'read');
  return isAsked && isolation === 'sandbox' && isShut;
}
