import { hashBytes, sha256 } from './merkle.ts';

// Signed notes and checkpoints as C2SP defines them (signed-note, tlog-checkpoint), without any key of ours: this part
// is also in the page that checks receipts. Keys are spelled as golang.org/x/mod/sumdb/note spells them, so that other
// tools can read them.

/** What a key signs with: a note as it stands, or the cosignature of a witness. Both are Ed25519. */
export const keyTypes = { note: 0x01, cosignature: 0x04 } as const;
export type KeyType = (typeof keyTypes)[keyof typeof keyTypes];

export const keyBytes = 32;
const keyIdBytes = 4;
const maxNoteLength = 64 * 1024;

/** Printable ASCII without space and plus sign. Narrower than the specification, so that nothing needs escaping. */
const namePattern = /^[!-*,-~]{1,255}$/;
const keyTextPattern = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/;
const signatureLinePattern = /^\u2014 (\S+) (\S+)$/;
const sizePattern = /^(?:0|[1-9][0-9]{0,15})$/;

export interface Checkpoint {
  /** Which log: the same text for the whole life of a log, and never that of another one. */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** A note or key that cannot be accepted. The message is for the person who verifies; it quotes no key. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
}

/** The public half of a key, or a private one, as its text says. */
export interface ParsedKey {
  readonly name: string;
  readonly keyId: Buffer;
  readonly bytes: Buffer;
}

export interface NoteSignature {
  readonly name: string;
  readonly keyId: Buffer;
  readonly signature: Buffer;
}

export interface ReadNote {
  /** What is signed, with the end of its last line. */
  readonly body: string;
  readonly signatures: readonly NoteSignature[];
}

/** Throws CheckpointError unless this is a well-formed note. No signature is checked. */
export function readNote(note: string): ReadNote {
  // A database can return anything in place of a text.
  const split = typeof note === 'string' ? note.lastIndexOf('\n\n') : -1;
  if (split < 0 || !note.endsWith('\n') || note.length > maxNoteLength || !note.isWellFormed()) {
    throw new CheckpointError('this is not a signed note');
  }
  return {
    body: note.slice(0, split + 1),
    signatures: note
      .slice(split + 2, -1)
      .split('\n')
      .map(readSignatureLine),
  };
}

function readSignatureLine(line: string): NoteSignature {
  const [, name = '', encoded] = signatureLinePattern.exec(line) ?? [];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
  if (bytes === undefined || bytes.length <= keyIdBytes) {
    throw new CheckpointError('a signature line of the note is malformed');
  }
  return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) };
}

export function writeSignatureLine(key: Pick<ParsedKey, 'name' | 'keyId'>, signature: Uint8Array): string {
  return `\u2014 ${key.name} ${Buffer.concat([key.keyId, signature]).toString('base64')}\n`;
}

/** The signatures that name this key. Throws CheckpointError when there are none. */
export function signaturesOf({ signatures }: ReadNote, key: Pick<ParsedKey, 'name' | 'keyId'>): readonly Buffer[] {
  const found = signatures.filter(({ name, keyId }) => name === key.name && keyId.equals(key.keyId));
  if (found.length === 0) throw new CheckpointError(`the note is not signed by the key ${describeKey(key)}`);
  return found.map(({ signature }) => signature);
}

export function changedNote(key: Pick<ParsedKey, 'name'>): CheckpointError {
  return new CheckpointError(`the signature of ${key.name} does not match: the note was changed`);
}

export function writeCheckpointBody({ origin, size, root }: Checkpoint): string {
  checkName(origin, 'the origin of a checkpoint');
  if (!Number.isSafeInteger(size) || size < 0) throw new CheckpointError('the size of a checkpoint is out of range');
  if (root.length !== hashBytes) throw new CheckpointError('the root of a checkpoint has 32 bytes');
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
}

/** Throws CheckpointError unless the text is origin, size and root. We write no extension lines. */
export function readCheckpointBody(body: string): Checkpoint {
  const [origin = '', sizeText = '', rootText = '', end, ...more] = body.split('\n');
  const root = decodeBase64(rootText);
  const size = readSize(sizeText);
  if (!namePattern.test(origin) || size === undefined || root?.length !== hashBytes || end !== '' || more.length > 0) {
    throw new CheckpointError('the signed text is not a checkpoint of origin, size and root');
  }
  return { origin, size, root };
}

/** A number of records in decimal, without leading zeros. Undefined: the text is something else. */
export function readSize(text: string): number | undefined {
  const size = Number(text);
  return sizePattern.test(text) && Number.isSafeInteger(size) ? size : undefined;
}

export function parseKeyText(text: string, what: string, type: KeyType): ParsedKey {
  const [, name = '', keyId = '', encoded = ''] = keyTextPattern.exec(text) ?? [];
  const typed = decodeBase64(encoded);
  if (!namePattern.test(name) || typed?.length !== 1 + keyBytes || typed[0] !== type) {
    const kind = type === keyTypes.note ? 'Ed25519' : 'Ed25519 cosignatures';
    throw new CheckpointError(`${what} is not of the form name+id+key for ${kind}`);
  }
  return { name, keyId: Buffer.from(keyId, 'hex'), bytes: typed.subarray(1) };
}

/** The public key of a log, or that of a witness. Throws CheckpointError. */
export function parsePublicKey(text: string, type: KeyType = keyTypes.note): ParsedKey {
  const what = type === keyTypes.note ? 'the verifier' : 'the key of the witness';
  const key = parseKeyText(text.trim(), what, type);
  if (!keyIdOf(key.name, type, key.bytes).equals(key.keyId)) {
    throw new CheckpointError(`${what} does not have its own id`);
  }
  return key;
}

export function formatKey(name: string, type: KeyType, keyId: Uint8Array, bytes: Uint8Array): string {
  const typed = Buffer.concat([Uint8Array.of(type), bytes]);
  return `${name}+${Buffer.from(keyId).toString('hex')}+${typed.toString('base64')}`;
}

export function keyIdOf(name: string, type: KeyType, publicBytes: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(`${name}\n`), Uint8Array.of(type), publicBytes]);
  return sha256(typed).subarray(0, keyIdBytes);
}

/** Undefined unless the text is the canonical base64 of these bytes. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

export function checkName(name: string, what: string): void {
  if (!namePattern.test(name)) throw new CheckpointError(`${what} is printable ASCII without space and plus sign`);
}

function describeKey({ name, keyId }: Pick<ParsedKey, 'name' | 'keyId'>): string {
  return `${name}+${keyId.toString('hex')}`;
}
