import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { attempt } from '@sallyport/contract';
import { ConfigError } from '../call/fault.ts';

// The envelope: one byte of version, 12 of nonce, 16 of tag, then the ciphertext (AES-256-GCM).
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;

/** The text of a new key, as its file holds it. */
export function createSecretsKey(): string {
  return randomBytes(keyBytes).toString('base64url');
}

/** Reads the text of a key. Throws ConfigError, because a daemon with half a key must not start. */
export function parseSecretsKey(text: string): Buffer {
  const key = Buffer.from(text, 'base64url');
  if (key.length === keyBytes && key.toString('base64url') === text) return key;
  throw new ConfigError(
    'The key of the stored secrets is damaged.',
    'Restore keys/secrets.key from a backup. Without it the secrets must be set again: remove the file first.',
  );
}

/** Encrypts a value under its name: the envelope opens under no other name. */
export function sealSecret(key: Buffer, name: string, value: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(contextOf(name));
  const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), ciphertext]);
}

/** Undefined when the envelope was made with another key, for another name or by another version, or was changed. */
export function openSecret(key: Buffer, name: string, envelope: Uint8Array): string | undefined {
  const bytes = Buffer.from(envelope);
  const start = 1 + nonceBytes + tagBytes;
  if (bytes.length < start || bytes[0] !== version) return undefined;
  const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + nonceBytes), { authTagLength: tagBytes });
  cipher.setAAD(contextOf(name));
  cipher.setAuthTag(bytes.subarray(1 + nonceBytes, start));
  return attempt(() => Buffer.concat([cipher.update(bytes.subarray(start)), cipher.final()]).toString('utf8'));
}

function contextOf(name: string): Buffer {
  return Buffer.from(`sallyport secret v${version}\0${name}`);
}
