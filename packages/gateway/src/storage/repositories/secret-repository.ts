/** A secret as it is kept: encrypted with a key that is not in this store. */
export interface SealedSecret {
  readonly name: string;
  readonly ciphertext: Uint8Array;
  readonly updatedAtMs: number;
}

/** Secrets that people gave the gate. The store never sees a value. */
export interface SecretRepository {
  /** Replaces a secret of the same name. */
  readonly setSecret: (secret: SealedSecret) => Promise<void>;
  /** False when no secret has this name. */
  readonly removeSecret: (name: string) => Promise<boolean>;
  /** By name. */
  readonly listSecrets: () => Promise<readonly SealedSecret[]>;
}
