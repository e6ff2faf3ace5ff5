import { blake3, Blake3Hasher } from '@napi-rs/blake-hash';

/** The name of content: BLAKE3 of its bytes as 64 hexadecimal digits in lower case. There is no other spelling. */
export const contentHashPattern = '^[0-9a-f]{64}$';

const spelling = new RegExp(contentHashPattern);

export function isContentHash(text: string): boolean {
  return spelling.test(text);
}

export function hashBytes(bytes: Uint8Array): string {
  return blake3(bytes).toString('hex');
}

/** Hashes bytes that come in pieces. Fastest with pieces of a power of two. */
export class ContentHasher {
  readonly #hasher = new Blake3Hasher();

  add(bytes: Uint8Array): void {
    this.#hasher.update(bytes);
  }

  /** May be asked at any time; more can be added afterwards. */
  digest(): string {
    return this.#hasher.digest('hex');
  }
}
