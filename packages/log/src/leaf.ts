import { digest, hashBytes, isDigest } from './merkle.ts';
import type { RecordFacts, RecordKind, RecordResult } from './record.ts';

// The leaf, version 1. Frozen: records of years ago must hash as they did. docs/audit-format.md has it byte by byte.
export const leafBytes = 108;
export const saltBytes = 32;

const formatVersion = 1;
const offsets = {
  version: 0,
  kind: 1,
  result: 2,
  reserved: 3,
  timeMs: 4,
  callId: 12,
  sessionId: 28,
  rulesHash: 44,
  commitment: 76,
} as const;

// Written out, so that the order of a list elsewhere cannot change what is hashed.
const kindCodes: Record<RecordKind, number> = { intent: 1, outcome: 2, refusal: 3, event: 4 };
const resultCodes: Record<RecordResult, number> = {
  ...{ none: 0, ok: 1, error: 2, denied: 3, fault: 4, unknown: 5 },
  pending: 6,
};
const kindsByCode = invert(kindCodes);
const resultsByCode = invert(resultCodes);

// Where each byte is in the text of a UUID or a hash.
const uuidPairs = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const hashPairs = Array.from({ length: hashBytes }, (_, at) => 2 * at);

/** What a leaf says. Absent ids and hashes are zeros in the bytes. */
export interface Leaf extends RecordFacts {
  readonly commitment: Buffer;
}

/** Throws when the entry does not fit into a leaf: that is a fault of the caller, and nothing may be written. */
export function encodeLeaf(entry: RecordFacts, commitment: Uint8Array): Buffer {
  if (commitment.length !== hashBytes) throw new RangeError('a payload commitment has 32 bytes');
  const leaf = encodeFacts(entry);
  leaf.set(commitment, offsets.commitment);
  return leaf;
}

/** `encodeLeaf` with `commitPayload`, in less time. */
export function encodeCommittedLeaf(entry: RecordFacts, salt: Uint8Array, payload: string): Buffer {
  const leaf = encodeFacts(entry);
  leaf.write(commitmentDigest(salt, payload), offsets.commitment, 'latin1');
  return leaf;
}

/** A leaf without its commitment. */
function encodeFacts(entry: RecordFacts): Buffer {
  if (!Number.isSafeInteger(entry.timeMs) || entry.timeMs < 0) throw new RangeError('the time of a record is no time');
  const kind = kindCodes[entry.kind];
  const result = resultCodes[entry.result];
  if (!kindsByCode.has(kind) || !resultsByCode.has(result)) throw new RangeError('a record has a kind and a result');
  const leaf = Buffer.allocUnsafe(leafBytes);
  leaf[offsets.version] = formatVersion;
  leaf[offsets.kind] = kind;
  leaf[offsets.result] = result;
  leaf[offsets.reserved] = 0;
  leaf.writeUInt32BE(Math.floor(entry.timeMs / 2 ** 32), offsets.timeMs);
  leaf.writeUInt32BE(entry.timeMs % 2 ** 32, offsets.timeMs + 4);
  writeHex(leaf, offsets.callId, uuidPairs, entry.callId);
  writeAgain(leaf, offsets.sessionId, lastSession, entry.sessionId);
  writeAgain(leaf, offsets.rulesHash, lastRules, entry.rulesHash);
  return leaf;
}

/** Throws on any byte that `encodeLeaf` would not have written. */
export function decodeLeaf(bytes: Uint8Array): Leaf {
  checkLeaf(bytes);
  const leaf = Buffer.from(bytes);
  const callId = readHex(leaf, offsets.callId, 16);
  const sessionId = readHex(leaf, offsets.sessionId, 16);
  const rulesHash = readHex(leaf, offsets.rulesHash, hashBytes);
  return {
    kind: kindsByCode.get(leaf.readUInt8(offsets.kind)) as RecordKind,
    result: resultsByCode.get(leaf.readUInt8(offsets.result)) as RecordResult,
    timeMs: Number(leaf.readBigUInt64BE(offsets.timeMs)),
    ...(callId === undefined ? {} : { callId: asUuid(callId) }),
    ...(sessionId === undefined ? {} : { sessionId: asUuid(sessionId) }),
    ...(rulesHash === undefined ? {} : { rulesHash }),
    commitment: leaf.subarray(offsets.commitment),
  };
}

/** The checks of `decodeLeaf` without its cost, for going through a whole log. */
export function checkLeaf(bytes: Uint8Array): void {
  if (bytes.length !== leafBytes) throw new RangeError(`a leaf has ${leafBytes} bytes, not ${bytes.length}`);
  const version = byteAt(bytes, offsets.version);
  if (version !== formatVersion) throw new RangeError(`leaf version ${version} is not known here`);
  const kind = byteAt(bytes, offsets.kind);
  if (!kindsByCode.has(kind)) throw new RangeError(`${kind} is no kind of record`);
  const result = byteAt(bytes, offsets.result);
  if (!resultsByCode.has(result)) throw new RangeError(`${result} is no result`);
  if (byteAt(bytes, offsets.reserved) !== 0) throw new RangeError('the reserved byte is not zero');
  // No clock shows 2^53 ms or more.
  if (byteAt(bytes, offsets.timeMs) !== 0 || byteAt(bytes, offsets.timeMs + 1) >= 0x20) {
    throw new RangeError('the time is out of range');
  }
}

/** What the bytes 1 and 2 of a leaf say. Throws where `decodeLeaf` does. */
export function readEnding(kind: number, result: number): Pick<RecordFacts, 'kind' | 'result'> {
  const found = { kind: kindsByCode.get(kind), result: resultsByCode.get(result) };
  if (found.kind === undefined || found.result === undefined) throw new RangeError('a leaf has a kind and a result');
  return { kind: found.kind, result: found.result };
}

// One byte in front of salt and payload continues the numbering of the tree, where 0 marks a leaf and 1 a node.
const commitmentPrefix = 0x02;
const payloadOffset = 1 + saltBytes;
// Payloads stay below 64 KB; synchronous, so one block serves all calls of a thread.
const commitmentBlock = Buffer.alloc(payloadOffset + 64 * 1024, commitmentPrefix);

/**
 * Binds a record to its payload without revealing it: nobody can test a guess without the salt.
 * Needs a fresh random salt of 32 bytes for each record.
 */
export function commitPayload(salt: Uint8Array, payload: string): Buffer {
  return Buffer.from(commitmentDigest(salt, payload), 'latin1');
}

/** Whether a checked leaf belongs to this salt and payload. Throws where `commitPayload` does. */
export function isLeafOf(leaf: Uint8Array, salt: Uint8Array, payload: string): boolean {
  return isDigest(commitmentDigest(salt, payload), leaf, offsets.commitment);
}

/** The same for bytes that are already joined: 0x02, salt, and the payload in UTF-8. */
export function commitsTo(leaf: Uint8Array, committed: Uint8Array): boolean {
  return isDigest(digest(committed), leaf, offsets.commitment);
}

function commitmentDigest(salt: Uint8Array, payload: string): string {
  if (salt.length !== saltBytes) throw new RangeError(`a salt has ${saltBytes} bytes, not ${salt.length}`);
  // Half a surrogate pair has no UTF-8: two such texts would share their bytes, and with them the commitment.
  if (!payload.isWellFormed()) throw new TypeError('a payload with half of a surrogate pair cannot be recorded');
  // No character of a string takes more than three bytes, so most texts fit without being measured.
  const fits = payload.length * 3 <= commitmentBlock.length - payloadOffset;
  const block = fits ? commitmentBlock : Buffer.alloc(payloadOffset + Buffer.byteLength(payload), commitmentPrefix);
  block.set(salt, 1);
  const end = payloadOffset + block.write(payload, payloadOffset);
  return digest(block.subarray(0, end));
}

/** What was written last at one place of a leaf. Most records repeat the session and nearly all repeat the rules. */
interface LastHex {
  readonly pairs: readonly number[];
  readonly bytes: Buffer;
  text: string | undefined;
}

const lastSession: LastHex = { pairs: uuidPairs, bytes: Buffer.alloc(uuidPairs.length), text: undefined };
const lastRules: LastHex = { pairs: hashPairs, bytes: Buffer.alloc(hashPairs.length), text: undefined };

function writeAgain(leaf: Buffer, offset: number, last: LastHex, text: string | undefined): void {
  if (last.text === text) {
    leaf.set(last.bytes, offset);
    return;
  }
  // Remembered afterwards: a malformed text throws.
  writeHex(leaf, offset, last.pairs, text);
  leaf.copy(last.bytes, 0, offset, offset + last.bytes.length);
  last.text = text;
}

/** One pass that checks and writes: on the writer's hot path, a third of the time of a pattern and a hex decoder. */
function writeHex(leaf: Buffer, offset: number, pairs: readonly number[], text: string | undefined): void {
  if (text === undefined) {
    leaf.fill(0, offset, offset + pairs.length);
    return;
  }
  let at = offset;
  let bits = 0;
  for (const pair of pairs) {
    const byte = (digitAt(text, pair) << 4) | digitAt(text, pair + 1);
    bits |= byte;
    leaf[at] = byte;
    at += 1;
  }
  // Negative after a character that is no digit. Zero would read back as absent.
  if (bits <= 0 || !(pairs === uuidPairs ? hasUuidDashes(text) : text.length === 2 * hashBytes)) {
    throw new RangeError('an id or hash of a record is malformed');
  }
}

/** -1 if there is no lower-case hexadecimal digit. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x61 + 10 : -1;
}

function hasUuidDashes(text: string): boolean {
  return text.length === 36 && text[8] === '-' && text[13] === '-' && text[18] === '-' && text[23] === '-';
}

function readHex(leaf: Buffer, offset: number, length: number): string | undefined {
  const text = leaf.toString('hex', offset, offset + length);
  return /[^0]/.test(text) ? text : undefined;
}

function asUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function byteAt(bytes: Uint8Array, offset: number): number {
  return bytes[offset] as number;
}

function invert<Name extends string>(codes: Record<Name, number>): ReadonlyMap<number, Name> {
  return new Map(Object.entries<number>(codes).map(([name, code]) => [code, name as Name]));
}
