import { createPrivateKey, createPublicKey, generateKeyPairSync, hkdfSync, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { digest, hashBytes, isDigest } from './merkle.ts';
import {
  changedNote,
  CheckpointError,
  checkName,
  formatKey,
  keyBytes,
  keyIdOf,
  keyTypes,
  parseKeyText,
  parsePublicKey,
  readCheckpointBody,
  readNote,
  signaturesOf,
  writeCheckpointBody,
  writeSignatureLine,
} from './note.ts';
import type { Checkpoint, KeyType, ParsedKey } from './note.ts';

export { CheckpointError } from './note.ts';
export type { Checkpoint } from './note.ts';

// What DER puts before the 32 bytes of an Ed25519 key.
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

export interface Verifier {
  readonly name: string;
  readonly keyId: Buffer;
  readonly publicKey: KeyObject;
}

export interface Signer extends Verifier {
  readonly privateKey: KeyObject;
  /** The public half as text, for `parseVerifier`. */
  readonly verifier: string;
}

/** `privateKey` is a secret: anyone who has it can rewrite the log. Keep it readable by the gate alone. */
export function createSigningKey(
  name: string,
  type: KeyType = keyTypes.note,
): { readonly privateKey: string; readonly verifier: string } {
  checkName(name, 'the name of a key');
  const pair = generateKeyPairSync('ed25519');
  const seed = readKeyBytes(pair.privateKey, 'd');
  const publicBytes = readKeyBytes(pair.publicKey, 'x');
  const keyId = keyIdOf(name, type, publicBytes);
  return {
    privateKey: `PRIVATE+KEY+${formatKey(name, type, keyId, seed)}`,
    verifier: formatKey(name, type, keyId, publicBytes),
  };
}

export function openSigner(text: string, type: KeyType = keyTypes.note): Signer {
  const secretText = text.trim();
  if (!secretText.startsWith('PRIVATE+KEY+')) throw new CheckpointError('the signing key is not a private key');
  const { name, keyId, bytes } = parseKeyText(secretText.slice('PRIVATE+KEY+'.length), 'the signing key', type);
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, bytes]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const publicBytes = readKeyBytes(publicKey, 'x');
  if (!keyIdOf(name, type, publicBytes).equals(keyId)) {
    throw new CheckpointError('the signing key does not have its own id');
  }
  return { name, keyId, privateKey, publicKey, verifier: formatKey(name, type, keyId, publicBytes) };
}

export function parseVerifier(text: string): Verifier {
  const key = parsePublicKey(text);
  return { name: key.name, keyId: key.keyId, publicKey: publicKeyOf(key) };
}

/** The note to store and to publish. */
export function signCheckpoint(signer: Signer, checkpoint: Checkpoint): string {
  const body = writeCheckpointBody(checkpoint);
  return `${body}\n${writeSignatureLine(signer, sign(null, Buffer.from(body), signer.privateKey))}`;
}

/**
 * Reads a note from anywhere. Signatures of other keys (witnesses) are allowed beside ours and prove nothing here.
 * Throws CheckpointError unless the note is well formed and carries a valid signature of this key.
 */
export function openCheckpoint(note: string, verifier: Verifier): Checkpoint {
  const read = readNote(note);
  for (const signature of signaturesOf(read, verifier)) {
    if (!verify(null, Buffer.from(read.body), verifier.publicKey, signature)) throw changedNote(verifier);
  }
  return readCheckpointBody(read.body);
}

/** Whether the key signed these bytes. */
export function isSignedBy({ bytes }: Pick<ParsedKey, 'bytes'>, message: Uint8Array, signature: Uint8Array): boolean {
  return verify(null, message, publicKeyOf({ bytes }), signature);
}

function publicKeyOf({ bytes }: Pick<ParsedKey, 'bytes'>): KeyObject {
  return createPublicKey({ key: Buffer.concat([spkiPrefix, bytes]), format: 'der', type: 'spki' });
}

/** A 32-byte key in the two padded blocks of HMAC-SHA-256, with room for the message: see RFC 2104. */
export interface TagKey {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

const blockBytes = 64;
const tagKeyInfo = 'sallyport audit record tag v1';

/** The key of the record tags follows from the signing key, so that there is one secret to keep. */
export function deriveTagKey(signer: Signer): TagKey {
  const seed = readKeyBytes(signer.privateKey, 'd');
  return prepareTagKey(new Uint8Array(hkdfSync('sha256', seed, '', tagKeyInfo, keyBytes)));
}

export function prepareTagKey(key: Uint8Array): TagKey {
  if (key.length !== keyBytes) throw new RangeError(`a tag key has ${keyBytes} bytes, not ${key.length}`);
  const inner = Buffer.alloc(blockBytes + 8 + hashBytes);
  const outer = Buffer.alloc(blockBytes + hashBytes);
  for (let at = 0; at < blockBytes; at += 1) {
    inner[at] = (key[at] ?? 0) ^ 0x36;
    outer[at] = (key[at] ?? 0) ^ 0x5c;
  }
  return { inner, outer };
}

/**
 * HMAC-SHA-256 over place and leaf hash: until a checkpoint covers a record, this tells one that the gate wrote from
 * one put there by hand.
 */
export function tagRecord(tagKey: TagKey, index: number, leafHash: Uint8Array): Buffer {
  return Buffer.from(tagDigest(tagKey, index, leafHash), 'latin1');
}

/** Compares without hiding how far it came: for records at rest, not for a caller who may try again. */
export function isTagOf(tag: Uint8Array, tagKey: TagKey, index: number, leafHash: Uint8Array): boolean {
  return tag.length === hashBytes && isDigest(tagDigest(tagKey, index, leafHash), tag);
}

/** Two plain hashes over prepared blocks take half the time of createHmac. */
function tagDigest({ inner, outer }: TagKey, index: number, leafHash: Uint8Array): string {
  inner.writeUInt32BE(Math.floor(index / 2 ** 32), blockBytes);
  inner.writeUInt32BE(index % 2 ** 32, blockBytes + 4);
  inner.set(leafHash, blockBytes + 8);
  outer.write(digest(inner), blockBytes, 'latin1');
  return digest(outer);
}

function readKeyBytes(key: KeyObject, part: 'd' | 'x'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[part] as string, 'base64url');
}
