import type { DescMessage } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { RpcError } from './rpc-error.ts';

// Some bytes on the wire become a hundred in memory: an empty element, a field of two bytes. A large message that is
// mostly made of those would hold up every other caller, or use up the memory, which ends the process: no `catch` helps.
// So large messages are looked at before they are decoded. Long strings are skipped, and cost nothing.

/** A message this short cannot hurt, whatever it holds. */
const harmlessBytes = 64 * 1024;
/** Far more than any message of ours has; what makes them long is text and content. */
const maxParts = 100_000;

const [quote, backslash, comma, openBracket, openBrace] = Buffer.from('"\\,[{');

/** Refuses a large JSON text of too many members and elements. */
export function checkJsonShape(text: Buffer): void {
  if (text.length <= harmlessBytes) return;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at);
    else if (byte === comma || byte === openBracket || byte === openBrace) checkParts(++parts);
  }
}

/** Where the string that opens at `start` closes; the end of the text when it does not. */
function endOfString(text: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let run = at;
    while (text[run - 1] === backslash) run--;
    if ((at - run) % 2 === 0) return at;
  }
}

/** Refuses a large protobuf message of too many fields, at any depth. What is malformed is left to the decoder. */
export function checkBinaryShape(message: DescMessage, bytes: Uint8Array): void {
  if (bytes.length > harmlessBytes) new FieldCounter(bytes).count(message, bytes.length);
}

const maxDepth = 100;

class FieldCounter {
  readonly #bytes: Uint8Array;
  #at = 0;
  #parts = 0;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  count(message: DescMessage, end: number): void {
    if (this.#depth >= maxDepth) return;
    this.#depth++;
    const contents = contentsOf(message);
    while (this.#at < end) {
      const tag = this.#readVarint();
      checkParts(++this.#parts);
      const wireType = tag & 7;
      if (wireType === 0) this.#readVarint();
      else if (wireType === 1) this.#at += 8;
      else if (wireType === 5) this.#at += 4;
      else if (wireType === 2) this.#countContent(contents.get(tag >>> 3), end);
    }
    this.#depth--;
  }

  #countContent(content: FieldContent, end: number): void {
    const length = this.#readVarint();
    const contentEnd = Math.min(this.#at + length, end);
    if (content === 'packed') checkParts((this.#parts += contentEnd - this.#at));
    else if (content !== undefined) this.count(content, contentEnd);
    this.#at = contentEnd;
  }

  #readVarint(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      if (shift < 35) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
  }
}

/** What the bytes of a field hold: fields of that message, numbers back to back, or (undefined) one value. */
type FieldContent = DescMessage | 'packed' | undefined;

const known = new WeakMap<DescMessage, ReadonlyMap<number, FieldContent>>();

function contentsOf(message: DescMessage): ReadonlyMap<number, FieldContent> {
  let contents = known.get(message);
  if (contents === undefined) {
    contents = new Map(message.fields.map((field) => [field.number, contentOf(field)]));
    known.set(message, contents);
  }
  return contents;
}

function contentOf(field: DescMessage['fields'][number]): FieldContent {
  if (field.message !== undefined) return field.message;
  if (field.fieldKind !== 'list') return undefined;
  return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES ? undefined : 'packed';
}

function checkParts(parts: number): void {
  if (parts > maxParts) throw new RpcError('invalid_argument', `The request has more than ${maxParts} parts.`);
}
