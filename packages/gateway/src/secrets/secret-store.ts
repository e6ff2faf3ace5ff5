import { hkdfSync } from 'node:crypto';
import type { SecretGrant, SecretUse } from '../call/secret-grant.ts';
import { ToolFailure } from '../call/tool.ts';
import type { SealedSecret, SecretRepository } from '../storage/stores.ts';
import { grantedSecrets } from './granted-secrets.ts';
import { ResultSeal } from './result-seal.ts';
import { openSecret, parseSecretsKey, sealSecret } from './seal-secret.ts';

export interface SecretStoreParts {
  readonly index: SecretRepository;
  /** The text of the key file. */
  readonly key: string;
  /** Told the key and every value with its name, so that none of them appears in a log or a text. */
  readonly learn: (value: string, name?: string) => void;
}

export interface ListedSecret {
  readonly name: string;
  readonly updatedAtMs: number;
  /** False: sealed with a key that is gone, or damaged. It has to be set again. */
  readonly isReadable: boolean;
}

/**
 * Secrets that people gave the gate, encrypted in the database. A value comes out in one way only: for a use that a rule
 * grants. All methods may be called concurrently; of two values set for one name the later call wins.
 */
export class SecretStore {
  readonly #index: SecretRepository;
  /** As they are stored, by name. */
  readonly #sealed = new Map<string, SealedSecret>();
  readonly #key: Buffer;
  readonly #learn: SecretStoreParts['learn'];

  private constructor({ index, key, learn }: SecretStoreParts) {
    this.#index = index;
    this.#key = parseSecretsKey(key);
    this.#learn = learn;
  }

  /** Makes the key and every stored value known before anything could show one. Throws ConfigError when the key is damaged. */
  static async open(parts: SecretStoreParts): Promise<SecretStore> {
    const store = new SecretStore(parts);
    parts.learn(parts.key, 'key of the secret store');
    for (const sealed of await parts.index.listSecrets()) {
      store.#sealed.set(sealed.name, sealed);
      const value = openSecret(store.#key, sealed.name, sealed.ciphertext);
      if (value !== undefined) parts.learn(value, sealed.name);
    }
    return store;
  }

  /** Resolves when the value is on disk, encrypted. A former value of the name is gone, but stays known until a restart. */
  async set(name: string, value: string): Promise<void> {
    this.#learn(value, name);
    const sealed = { name, ciphertext: sealSecret(this.#key, name, value), updatedAtMs: Date.now() };
    await this.#index.setSecret(sealed);
    this.#sealed.set(name, sealed);
  }

  /** False when no secret has this name. */
  async remove(name: string): Promise<boolean> {
    const removed = await this.#index.removeSecret(name);
    this.#sealed.delete(name);
    return removed;
  }

  list(): readonly ListedSecret[] {
    const listed = [...this.#sealed.values()].map(({ name, ciphertext, updatedAtMs }) => {
      return { name, updatedAtMs, isReadable: openSecret(this.#key, name, ciphertext) !== undefined };
    });
    return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * The values that the grants let this use have, by name. Throws ToolFailure for one that is granted but not there or
   * not readable: a call without its credential would only fail later, and less clearly.
   */
  secretsFor(grants: readonly SecretGrant[], use: SecretUse): ReadonlyMap<string, string> {
    const granted = grantedSecrets(grants, use);
    if (granted.length === 0) return new Map();
    return new Map(granted.map((name) => [name, this.#read(name, this.#sealed.get(name)?.ciphertext)]));
  }

  /**
   * The secret with which messages of one kind are signed, as Standard Webhooks writes it: the same each time as long as
   * the key is, so that nothing has to be stored, and of no use for anything else.
   */
  deriveSigningSecret(purpose: string): string {
    const bytes = hkdfSync('sha256', this.#key, '', `sallyport signing secret v1\0${purpose}`, 32);
    const secret = `whsec_${Buffer.from(bytes).toString('base64')}`;
    this.#learn(secret, purpose);
    return secret;
  }

  /** For results of calls: with a key that follows from ours, and opens no secret. */
  resultSeal(): ResultSeal {
    return new ResultSeal(Buffer.from(hkdfSync('sha256', this.#key, '', 'sallyport results of calls v1', 32)));
  }

  #read(name: string, ciphertext: Uint8Array | undefined): string {
    const value = ciphertext === undefined ? undefined : openSecret(this.#key, name, ciphertext);
    if (value !== undefined) return value;
    const problem = ciphertext === undefined ? 'is not set' : 'cannot be decrypted';
    throw new ToolFailure('EXECUTION_ERROR', `The secret ${name} ${problem}.`, {
      forOperators: `Set it with \`sallyport secret set ${name}\`.`,
    });
  }
}
