import type { Json } from '@sallyport/contract';
import { openSecret, sealSecret } from './seal-secret.ts';

/** Encrypts what calls with a dedupe key returned, so that the database does not hold it in the clear. */
export class ResultSeal {
  readonly #key: Buffer;

  /** A key of its own, of 32 bytes. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  seal(callId: string, output: Json): Uint8Array {
    return sealSecret(this.#key, contextOf(callId), JSON.stringify(output));
  }

  /** Undefined: it was sealed with a key that is gone, or for another call, or was changed. */
  open(callId: string, sealed: Uint8Array): { readonly output: Json } | undefined {
    const text = openSecret(this.#key, contextOf(callId), sealed);
    return text === undefined ? undefined : { output: JSON.parse(text) as Json };
  }
}

function contextOf(callId: string): string {
  return `result of call ${callId}`;
}
