import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { CheckpointError, createSigningKey, openSigner } from '@sallyport/log';
import type { Signer } from '@sallyport/log';
import { ConfigError } from '../../call/fault.ts';
import type { Store } from '../../storage/stores.ts';
import { newToken } from '../../sessions/tools/sessions.ts';
import type { Home } from './home.ts';
import { readOrCreateSecret } from './secret-files.ts';

/** The kind of the key and 32 bytes, in base64. */
const seedLength = 44;

/** The key that signs the log, made at the first start. Its name is the origin of the log, unique to this install. */
export function openSigningKey(home: Home): {
  readonly key: string;
  readonly origin: string;
  /** The secret part of the key. Its name and id are public and are in every checkpoint. */
  readonly seed: string;
} {
  const key = readOrCreateSecret(home.signingKeyFile, () => {
    return createSigningKey(`sallyport/${randomBytes(8).toString('hex')}`).privateKey;
  });
  const signer = openOwnSigner(key, home.signingKeyFile);
  writeFileSync(home.verifierFile, `${signer.verifier}\n`, { mode: 0o644 });
  return { key, origin: signer.name, seed: seedOf(key) };
}

/** The secret part of a signing key. */
export function seedOf(key: string): string {
  return key.trim().slice(-seedLength);
}

function openOwnSigner(key: string, file: string): Signer {
  try {
    return openSigner(key);
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    throw new ConfigError(
      `The key of the audit log in ${file} is damaged: ${error.message}.`,
      'Restore it from a backup. A log cannot be continued with another key: without a backup, set the whole folder ' +
        'aside and start with a new one.',
    );
  }
}

/** The operator's credential, made at the first start, and the session that stands for it. */
export async function openOperatorSession(home: Home, store: Store, workspace: string): Promise<string> {
  const token = readOrCreateSecret(home.operatorCredentialFile, newToken);
  const tokenSha256 = hash('sha256', token);
  const known = store.findSessionByToken(tokenSha256);
  if (known?.workingDirectory === workspace && known.status === 'active') return token;
  if (known === undefined) {
    await store.createSession({
      id: randomUUIDv7(),
      principal: 'operator',
      agent: 'operator',
      tokenSha256,
      createdAtMs: Date.now(),
      workingDirectory: workspace,
      lease: { id: randomUUIDv7(), tools: ['*'] },
    });
    return token;
  }
  // The workspace moved: a new credential and session, so that no record's session means two different folders.
  await store.endSession(known.id);
  rmSync(home.operatorCredentialFile);
  return openOperatorSession(home, store, workspace);
}
