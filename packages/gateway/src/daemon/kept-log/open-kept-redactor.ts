import { Redactor, secretsOfEnvironment } from '../../redaction/redact.ts';
import { openSecret, parseSecretsKey } from '../../secrets/seal-secret.ts';
import type { KeptLog } from '../../storage/stores.ts';
import type { Home } from '../home/home.ts';
import { seedOf } from '../home/identity.ts';
import { secretsOfLogin } from '../parts/login-store.ts';
import { readSecret } from '../home/secret-files.ts';

/**
 * Knows the secrets of a home whose daemon is not asked: its keys, its credential, and what is stored. Throws when they
 * cannot be read, because then nobody could say what has to be hidden.
 */
export function openKeptRedactor(home: Home, log: Pick<KeptLog, 'listSecrets'>): Redactor {
  const redactor = new Redactor(secretsOfEnvironment(process.env));
  for (const file of [home.stateKeyFile, home.confirmKeyFile, home.operatorCredentialFile]) {
    const secret = readSecret(file);
    if (secret !== undefined) redactor.learn(secret, 'key of the gate');
  }
  const signingKey = readSecret(home.signingKeyFile);
  if (signingKey !== undefined) redactor.learn(seedOf(signingKey), 'audit key of the gate');
  const key = readSecret(home.secretsKeyFile);
  if (key === undefined) return redactor;
  redactor.learn(key, 'key of the secret store');
  for (const { name, ciphertext } of log.listSecrets()) {
    const value = openSecret(parseSecretsKey(key), name, ciphertext);
    if (value === undefined) continue;
    const foreign = secretsOfLogin(name, value);
    if (foreign === undefined) redactor.learn(value, name);
    else for (const secret of foreign) redactor.learn(secret, undefined, { isForeign: true });
  }
  return redactor;
}
