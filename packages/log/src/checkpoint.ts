import { createPrivateKey, createPublicKey, generateKeyPairSync, hkdfSync, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { digest, hashBytes, isDigest, sha256 } from './merkle.ts';

// Signed notes and checkpoints as C2SP defines them (signed-note, tlog-checkpoint), with Ed25519 keys. Keys are
// spelled as golang.org/x/mod/sumdb/note spells them, so that other tools can read them.
const ed25519 = 0x01;
const keyBytes = 32;
const keyIdBytes = 4;
const maxNoteLength = 64 * 1024;

// What DER puts before the 32 bytes of an Ed25519 key.
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Printable ASCII without space and plus sign. Narrower than the specification, so that nothing needs escaping. */
const namePattern = /^[!-*,-~]{1,255}$/;
const keyTextPattern = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/;
const signatureLinePattern = /^\u2014 (\S+) (\S+)$/;
const sizePattern = /^(?:0|[1-9][0-9]{0,15})$/;

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

/** `privateKey` is a secret: whoever has it can rewrite the log. Keep it readable by the gate alone. */
export function createSigningKey(name: string): { readonly privateKey: string; readonly verifier: string } {
  checkName(name, 'the name of a key');
  const pair = generateKeyPairSync('ed25519');
  const seed = readKeyBytes(pair.privateKey, 'd');
  const publicBytes = readKeyBytes(pair.publicKey, 'x');
  const privateKey = `PRIVATE+KEY+${formatKey(name, keyIdOf(name, publicBytes), seed)}`;
  return { privateKey, verifier: formatKey(name, keyIdOf(name, publicBytes), publicBytes) };
}

export function openSigner(text: string): Signer {
  const secretText = text.trim();
  if (!secretText.startsWith('PRIVATE+KEY+')) throw new CheckpointError('the signing key is not a private key');
  const { name, keyId, bytes } = parseKey(secretText.slice('PRIVATE+KEY+'.length), 'the signing key');
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, bytes]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const publicBytes = readKeyBytes(publicKey, 'x');
  if (!keyIdOf(name, publicBytes).equals(keyId)) throw new CheckpointError('the signing key does not have its own id');
  return { name, keyId, privateKey, publicKey, verifier: formatKey(name, keyId, publicBytes) };
}

export function parseVerifier(text: string): Verifier {
  const { name, keyId, bytes } = parseKey(text.trim(), 'the verifier');
  if (!keyIdOf(name, bytes).equals(keyId)) throw new CheckpointError('the verifier does not have its own id');
  const publicKey = createPublicKey({ key: Buffer.concat([spkiPrefix, bytes]), format: 'der', type: 'spki' });
  return { name, keyId, publicKey };
}

/** The note to store and to publish. */
export function signCheckpoint(signer: Signer, checkpoint: Checkpoint): string {
  const { origin, size, root } = checkpoint;
  checkName(origin, 'the origin of a checkpoint');
  if (!Number.isSafeInteger(size) || size < 0) throw new CheckpointError('the size of a checkpoint is out of range');
  if (root.length !== hashBytes) throw new CheckpointError('the root of a checkpoint has 32 bytes');
  const body = `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
  const signature = sign(null, Buffer.from(body), signer.privateKey);
  return `${body}\n\u2014 ${signer.name} ${Buffer.concat([signer.keyId, signature]).toString('base64')}\n`;
}

/**
 * Reads a note from anywhere. Signatures of other keys (witnesses) are allowed beside ours and prove nothing here.
 * Throws CheckpointError unless the note is well formed and carries a valid signature of this key.
 */
export function openCheckpoint(note: string, verifier: Verifier): Checkpoint {
  // A database can hand out anything where a text belongs.
  const split = typeof note === 'string' ? note.lastIndexOf('\n\n') : -1;
  if (split < 0 || !note.endsWith('\n') || note.length > maxNoteLength || !note.isWellFormed()) {
    throw new CheckpointError('this is not a signed note');
  }
  const body = note.slice(0, split + 1);
  let signed = false;
  for (const line of note.slice(split + 2, -1).split('\n')) {
    const [, name, encoded] = signatureLinePattern.exec(line) ?? [];
    const signature = encoded === undefined ? undefined : decodeBase64(encoded);
    if (signature === undefined || signature.length <= keyIdBytes) {
      throw new CheckpointError('a signature line of the note is malformed');
    }
    if (name !== verifier.name || !signature.subarray(0, keyIdBytes).equals(verifier.keyId)) continue;
    if (!verify(null, Buffer.from(body), verifier.publicKey, signature.subarray(keyIdBytes))) {
      throw new CheckpointError(`the signature of ${verifier.name} does not match: the note was changed`);
    }
    signed = true;
  }
  if (!signed) throw new CheckpointError(`the note is not signed by the key ${describeKey(verifier)}`);
  return parseBody(body);
}

function parseBody(body: string): Checkpoint {
  const [origin = '', sizeText = '', rootText = '', end, ...more] = body.split('\n');
  const root = decodeBase64(rootText);
  const size = Number(sizeText);
  const wellFormed = namePattern.test(origin) && sizePattern.test(sizeText) && Number.isSafeInteger(size);
  if (!wellFormed || root?.length !== hashBytes || end !== '' || more.length > 0) {
    throw new CheckpointError('the signed text is not a checkpoint of origin, size and root');
  }
  return { origin, size, root };
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

function formatKey(name: string, keyId: Uint8Array, bytes: Uint8Array): string {
  const typed = Buffer.concat([Uint8Array.of(ed25519), bytes]);
  return `${name}+${Buffer.from(keyId).toString('hex')}+${typed.toString('base64')}`;
}

function parseKey(text: string, what: string): { name: string; keyId: Buffer; bytes: Buffer } {
  const [, name = '', keyId = '', encoded = ''] = keyTextPattern.exec(text) ?? [];
  const typed = decodeBase64(encoded);
  if (!namePattern.test(name) || typed?.length !== 1 + keyBytes || typed[0] !== ed25519) {
    throw new CheckpointError(`${what} is not of the form name+id+key for Ed25519`);
  }
  return { name, keyId: Buffer.from(keyId, 'hex'), bytes: typed.subarray(1) };
}

function keyIdOf(name: string, publicBytes: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(`${name}\n`), Uint8Array.of(ed25519), publicBytes]);
  return sha256(typed).subarray(0, keyIdBytes);
}

function describeKey(verifier: Verifier): string {
  return `${verifier.name}+${verifier.keyId.toString('hex')}`;
}

function readKeyBytes(key: KeyObject, part: 'd' | 'x'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[part] as string, 'base64url');
}

/** Undefined unless the text is exactly how these bytes are written. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function checkName(name: string, what: string): void {
  if (!namePattern.test(name)) throw new CheckpointError(`${what} is printable ASCII without space and plus sign`);
}
