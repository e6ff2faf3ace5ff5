import { hash } from 'node:crypto';

/** Bytes of every hash in the log. */
export const hashBytes = 32;

// Every SHA-256 of the log starts with a byte that says what is hashed, so that no hash can stand for another kind.
const leafPrefix = 0x00;
const nodePrefix = 0x01;

// Everything here is synchronous, so one block per shape serves all calls of a thread. Leaves have one length.
let leafBlock = Buffer.alloc(1, leafPrefix);
const digestBlock = Buffer.alloc(hashBytes);
const nodeBlock = Buffer.alloc(1 + 2 * hashBytes, nodePrefix);

/**
 * SHA-256 as a string with one character a byte. Node allocates a binary result outside its buffer pool, which takes
 * longer than the hash itself.
 */
export function digest(data: Uint8Array | string): string {
  return hash('sha256', data, 'binary');
}

export function sha256(data: Uint8Array | string): Buffer {
  return Buffer.from(digest(data), 'latin1');
}

/** Whether the 32 bytes from `offset` on are this digest. False when there are fewer. */
export function isDigest(expected: string, bytes: Uint8Array, offset = 0): boolean {
  digestBlock.write(expected, 'latin1');
  for (let at = 0; at < hashBytes; at += 1) {
    if (bytes[offset + at] !== digestBlock[at]) return false;
  }
  return true;
}

/** RFC 6962 hash of a leaf. */
export function hashLeaf(leaf: Uint8Array): Buffer {
  if (leafBlock.length !== leaf.length + 1) leafBlock = Buffer.alloc(leaf.length + 1, leafPrefix);
  leafBlock.set(leaf, 1);
  return sha256(leafBlock);
}

/** RFC 6962 hash of an inner node. Both must be 32 bytes. */
export function hashNode(left: Uint8Array, right: Uint8Array): Buffer {
  nodeBlock.set(left, 1);
  nodeBlock.set(right, 1 + hashBytes);
  return sha256(nodeBlock);
}

/**
 * The right edge of a growing tree: enough to append and to name the root, whatever the size. Holds the roots of the
 * perfect subtrees that cover the leaves, largest first; there is one for each 1 bit of the size.
 */
export class MerkleFrontier {
  #size = 0;
  #peaks: Uint8Array[] = [];

  get size(): number {
    return this.#size;
  }

  /** Keeps the array it is given: do not change it afterwards. */
  append(leafHash: Uint8Array): void {
    if (leafHash.length !== hashBytes) throw new RangeError(`a leaf hash has 32 bytes, not ${leafHash.length}`);
    let node = leafHash;
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      node = hashNode(this.#peaks.pop() as Uint8Array, node);
    }
    this.#peaks.push(node);
    this.#size += 1;
  }

  root(): Buffer {
    if (this.#size === 0) return sha256('');
    return Buffer.from(this.#peaks.reduceRight((right, left) => hashNode(left, right)));
  }

  /** The root of the perfect subtree of 2^level leaves at this edge. Undefined: there is none of this height. */
  peakAt(level: number): Uint8Array | undefined {
    const bits = this.#size.toString(2);
    const at = bits.length - 1 - level;
    return bits[at] === '1' ? this.#peaks[bits.slice(0, at).replaceAll('0', '').length] : undefined;
  }

  /** A copy that grows on its own. */
  clone(): MerkleFrontier {
    const copy = new MerkleFrontier();
    copy.#size = this.#size;
    copy.#peaks = [...this.#peaks];
    return copy;
  }

  /** Size as u64, then the peaks, largest first. */
  encode(): Buffer {
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(this.#size));
    return Buffer.concat([size, ...this.#peaks]);
  }

  /**
   * Checks the shape only: compare `root()` with a signed checkpoint before trusting it. Throws when the bytes cannot
   * be a frontier.
   */
  static decode(bytes: Uint8Array): MerkleFrontier {
    if (bytes.length < 8) throw new RangeError('a stored frontier has at least 8 bytes');
    const copy = Buffer.from(bytes);
    const size = Number(copy.readBigUInt64BE());
    if (!Number.isSafeInteger(size)) throw new RangeError('the size of a stored frontier is out of range');
    const peakCount = size.toString(2).replaceAll('0', '').length;
    if (copy.length !== 8 + peakCount * hashBytes) {
      throw new RangeError(`a stored frontier of size ${size} has ${peakCount} hashes`);
    }
    const frontier = new MerkleFrontier();
    frontier.#size = size;
    for (let at = 8; at < copy.length; at += hashBytes) frontier.#peaks.push(copy.subarray(at, at + hashBytes));
    return frontier;
  }
}
