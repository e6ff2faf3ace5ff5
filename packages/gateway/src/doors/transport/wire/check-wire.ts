import { ScalarType } from '@bufbuild/protobuf';
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { checkParts } from './check-shape.ts';
import { RpcError } from '../rpc-error.ts';

// The decoder takes the wire type of a known field on trust, and lets a field inside a message read on behind its end:
// it would understand bytes as another message than any other decoder does, such as a proxy that looks at them first.
// So every message is walked before it is decoded, which also counts its parts: some bytes on the wire become a hundred
// in memory.

const maxDepth = 100;
const maxVarintBytes = 10;
const [varint, bits64, delimited, groupStart, groupEnd, bits32] = [0, 1, 2, 3, 4, 5];

/**
 * Refuses bytes that are not exactly a message of this type: wrong wire types, lengths that do not fit, and more parts
 * than any message has. Fields that are not known are walked, too, and left to the decoder to skip.
 */
export function checkWire(message: DescMessage, bytes: Uint8Array): void {
  new WireWalk(message, bytes).walk();
}

class WireWalk {
  readonly #message: DescMessage;
  readonly #bytes: Uint8Array;
  #at = 0;
  #parts = 0;
  #depth = 0;

  constructor(message: DescMessage, bytes: Uint8Array) {
    this.#message = message;
    this.#bytes = bytes;
  }

  walk(): void {
    this.#walkFields(fieldsOf(this.#message), this.#bytes.length);
  }

  /** Up to `end`, or to the end of the group of this number. */
  #walkFields(fields: KnownFields, end: number, group?: number): void {
    if (++this.#depth > maxDepth) throw this.#refuse(`it is nested deeper than ${maxDepth} levels`);
    while (this.#at < end) {
      const tag = this.#readVarint(end);
      checkParts(++this.#parts);
      const number = Math.floor(tag / 8);
      const wireType = tag % 8;
      if (number === 0 || tag > 0xffff_ffff) throw this.#refuse('a field has an impossible number');
      if (wireType === groupEnd) {
        if (number !== group) throw this.#refuse(`group ${number} ends where it did not begin`);
        this.#depth--;
        return;
      }
      this.#walkValue(fields.get(number), number, wireType, end);
    }
    if (group !== undefined) throw this.#refuse(`group ${group} has no end`);
    this.#depth--;
  }

  #walkValue(field: KnownField | undefined, number: number, wireType: number, end: number): void {
    if (field !== undefined && wireType !== field.wireType && !(field.isList && wireType === delimited)) {
      throw this.#refuse(`field ${field.name} has wire type ${wireType}, not ${field.wireType}`);
    }
    if (wireType === varint) this.#readVarint(end);
    else if (wireType === bits64) this.#skip(8, end);
    else if (wireType === bits32) this.#skip(4, end);
    else if (wireType === groupStart) this.#walkFields(noFields, end, number);
    else if (wireType === delimited) this.#walkContent(field, end);
    else throw this.#refuse(`field ${number} has wire type ${wireType}, which does not exist`);
  }

  #walkContent(field: KnownField | undefined, end: number): void {
    const length = this.#readVarint(end);
    const contentEnd = this.#at + length;
    if (contentEnd > end) throw this.#refuse('a field is longer than what it stands in');
    if (field?.fields !== undefined) this.#walkFields(field.fields(), contentEnd);
    else if (field?.isList === true && field.wireType !== delimited) this.#walkPacked(field, contentEnd);
    this.#at = contentEnd;
  }

  #walkPacked({ name, wireType }: KnownField, end: number): void {
    const length = end - this.#at;
    checkParts((this.#parts += wireType === varint ? length : length / (wireType === bits64 ? 8 : 4)));
    const isWhole =
      wireType === varint
        ? length === 0 || (this.#bytes[end - 1] ?? 0x80) < 0x80
        : length % (wireType === bits64 ? 8 : 4) === 0;
    if (!isWhole) throw this.#refuse(`the last element of field ${name} is not whole`);
  }

  /** Exact up to 2^53; a larger tag or length is refused in any case. */
  #readVarint(end: number): number {
    let value = 0;
    for (let read = 0; read < maxVarintBytes && this.#at < end; read++) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * 2 ** (7 * read);
      if (byte < 0x80) return value;
    }
    throw this.#refuse('a number has no end');
  }

  #skip(length: number, end: number): void {
    this.#at += length;
    if (this.#at > end) throw this.#refuse('it ends in the middle of a number');
  }

  #refuse(reason: string): RpcError {
    return new RpcError('invalid_argument', `The request is not a ${this.#message.typeName}: ${reason}.`);
  }
}

interface KnownField {
  readonly name: string;
  readonly wireType: number;
  /** Whether the values may also stand back to back. */
  readonly isList: boolean;
  /** What the content of a message is made of. Absent: it is one value, or a list of numbers. */
  readonly fields?: () => KnownFields;
}
type KnownFields = ReadonlyMap<number, KnownField>;

const noFields: KnownFields = new Map();
const known = new WeakMap<DescMessage, KnownFields>();

function fieldsOf(message: DescMessage): KnownFields {
  let fields = known.get(message);
  if (fields === undefined) {
    fields = new Map(message.fields.map((field) => [field.number, describeField(field)]));
    known.set(message, fields);
  }
  return fields;
}

function describeField(field: DescField): KnownField {
  const { name, message, scalar } = field;
  if (field.fieldKind === 'map') {
    const key: KnownField = { name: 'key', wireType: wireTypeOf(field.mapKey), isList: false };
    const entry = new Map([
      [1, key],
      [2, describeValue('value', message, scalar)],
    ]);
    return { name, wireType: delimited, isList: false, fields: () => entry };
  }
  return { ...describeValue(name, message, scalar), isList: field.fieldKind === 'list' };
}

function describeValue(name: string, message: DescMessage | undefined, scalar: ScalarType | undefined): KnownField {
  if (message !== undefined) return { name, wireType: delimited, isList: false, fields: () => fieldsOf(message) };
  // What is neither a message nor a scalar is an enum.
  return { name, wireType: scalar === undefined ? varint : wireTypeOf(scalar), isList: false };
}

function wireTypeOf(scalar: ScalarType): number {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return delimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return bits64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return bits32;
    default:
      return varint;
  }
}
