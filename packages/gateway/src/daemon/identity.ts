import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { createSigningKey, openSigner } from '../audit/checkpoint.ts';
import type { Store } from '../storage/stores.ts';
import { newToken } from '../tools/sessions/sessions.ts';
import type { Home } from './home.ts';
import { readOrCreateSecret } from './secret-files.ts';

/** The key that signs the log, made at the first start. Its name is the origin of the log, unique to this install. */
export function openSigningKey(home: Home): { readonly key: string; readonly origin: string } {
  const key = readOrCreateSecret(home.signingKeyFile, () => {
    return createSigningKey(`sallyport/${randomBytes(8).toString('hex')}`).privateKey;
  });
  const signer = openSigner(key);
  writeFileSync(home.verifierFile, `${signer.verifier}\n`, { mode: 0o644 });
  return { key, origin: signer.name };
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
