import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { digest } from '@sallyport/log';

const sumBytes = 32;
const wordsPerSum = sumBytes / 4;
const nonceBytes = 12;
const authBytes = 16;

/** Keys derived from the one in `keys/state.key`. */
export interface StateKeys {
  /** 64 characters each: one block of SHA-256. */
  readonly inner: string;
  readonly outer: string;
  readonly tagInner: string;
  readonly tagOuter: string;
  readonly cipher: Uint8Array;
}

export function deriveStateKeys(secret: string): StateKeys {
  const derive = (what: string): Buffer =>
    Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'base64'), '', `sallyport state ${what} v1`, 32));
  return {
    inner: derive('row inner').toString('hex'),
    outer: derive('row outer').toString('hex'),
    tagInner: derive('tag inner').toString('hex'),
    tagOuter: derive('tag outer').toString('hex'),
    cipher: derive('sums'),
  };
}

/**
 * For each group the sum of a keyed hash of its rows, modulo 2^256: a row that is added, changed or removed changes the
 * sum by what only the holder of the key can compute, and nothing has to be read again. The sums themselves are never
 * stored in the clear, because their differences would show the hashes of single rows.
 */
export class StateSums {
  readonly labels: readonly string[];
  readonly #keys: StateKeys;
  #words: Uint32Array;

  constructor(keys: StateKeys, labels: readonly string[], words = new Uint32Array(labels.length * wordsPerSum)) {
    this.#keys = keys;
    this.labels = labels;
    this.#words = words;
  }

  /** `sign` is 1 when the row came, -1 when it went. */
  count(group: number, sign: 1 | -1, row: string): void {
    const { inner, outer } = this.#keys;
    const hashed = Buffer.from(digest(outer + digest(inner + row)), 'latin1');
    let carry = 0;
    for (let at = 0; at < wordsPerSum; at += 1) {
      const place = group * wordsPerSum + at;
      const word = (this.#words[place] as number) + sign * hashed.readUInt32LE(at * 4) + carry;
      this.#words[place] = word;
      carry = Math.floor(word / 2 ** 32);
    }
  }

  clone(): StateSums {
    return new StateSums(this.#keys, this.labels, this.#words.slice());
  }

  equals(other: StateSums, group: number): boolean {
    const range = [group * wordsPerSum, (group + 1) * wordsPerSum] as const;
    return this.#words.subarray(...range).every((word, at) => word === other.#words[range[0] + at]);
  }

  /** Readable with the key only, and only together with this context. */
  seal(context: string): Buffer {
    const nonce = takeNonce();
    const cipher = createCipheriv('aes-256-gcm', this.#keys.cipher, nonce).setAAD(Buffer.from(context));
    const words = new Uint8Array(this.#words.buffer);
    return Buffer.concat([nonce, cipher.update(words), cipher.final(), cipher.getAuthTag()]);
  }

  /** Undefined: not sealed with these keys, in another context, or changed since. */
  static open(
    keys: StateKeys,
    kept: { readonly context: string; readonly labels: readonly string[]; readonly sealed: Uint8Array },
  ): StateSums | undefined {
    const { context, labels, sealed } = kept;
    try {
      const decipher = createDecipheriv('aes-256-gcm', keys.cipher, sealed.subarray(0, nonceBytes), {
        authTagLength: authBytes,
      });
      decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-authBytes));
      const bytes = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -authBytes)), decipher.final()]);
      if (bytes.length !== labels.length * sumBytes) return undefined;
      return new StateSums(keys, labels, new Uint32Array(Uint8Array.from(bytes).buffer));
    } catch {
      return undefined;
    }
  }
}

/** A keyed hash of the state that is kept beside the sums. */
export function tagOf({ tagInner, tagOuter }: StateKeys, text: string): Buffer {
  return Buffer.from(digest(tagOuter + digest(tagInner + text)), 'latin1');
}

let nonces = Buffer.alloc(0);

/** One request to the kernel for many. */
function takeNonce(): Buffer {
  if (nonces.length < nonceBytes) nonces = randomBytes(nonceBytes * 128);
  const nonce = nonces.subarray(0, nonceBytes);
  nonces = nonces.subarray(nonceBytes);
  return nonce;
}
