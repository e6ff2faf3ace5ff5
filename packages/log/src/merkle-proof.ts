import { hashBytes, hashNode, sha256 } from './merkle.ts';

/** The root of the perfect subtree over the leaves `index * 2^level` to `(index + 1) * 2^level - 1`. */
export type NodeReader = (level: number, index: number) => Uint8Array;

/** Reads nodes from leaf hashes held in memory. Hashes everything each time: for trees of some thousand leaves. */
export function readNodesOf(leafHashes: readonly Uint8Array[]): NodeReader {
  const read: NodeReader = (level, index) => {
    if (level > 0) return hashNode(read(level - 1, 2 * index), read(level - 1, 2 * index + 1));
    const leafHash = leafHashes[index];
    if (leafHash === undefined) throw new RangeError(`there is no leaf ${index}`);
    return leafHash;
  };
  return read;
}

/** The audit path of RFC 6962, 2.1.1: shows that the leaf `index` is in the tree of the first `size` leaves. */
export function proveInclusion(index: number, size: number, read: NodeReader): Uint8Array[] {
  if (!isSize(size) || !isSize(index) || index >= size) throw new RangeError(`no leaf ${index} in a tree of ${size}`);
  const path = (from: number, to: number): Uint8Array[] => {
    if (to - from === 1) return [];
    const middle = from + splitOf(to - from);
    return index < middle
      ? [...path(from, middle), rootOfRange(middle, to, read)]
      : [...path(middle, to), rootOfRange(from, middle, read)];
  };
  return path(0, size);
}

/** RFC 6962, 2.1.2: shows that the tree of `oldSize` leaves is the beginning of the tree of `size`. */
export function proveConsistency(oldSize: number, size: number, read: NodeReader): Uint8Array[] {
  if (!isSize(oldSize) || !isSize(size) || oldSize > size) {
    throw new RangeError(`a tree of ${oldSize} leaves is not the beginning of one of ${size}`);
  }
  if (oldSize === 0) return [];
  const path = (from: number, to: number): Uint8Array[] => {
    // The verifier has the old root; it needs this node only when the node is not that root.
    if (oldSize === to) return from === 0 ? [] : [rootOfRange(from, to, read)];
    const middle = from + splitOf(to - from);
    return oldSize <= middle
      ? [...path(from, middle), rootOfRange(middle, to, read)]
      : [...path(middle, to), rootOfRange(from, middle, read)];
  };
  return path(0, size);
}

export interface InclusionClaim {
  readonly index: number;
  readonly leafHash: Uint8Array;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** RFC 9162, 2.1.3.2. All of the claim may come from a stranger, except the root. */
export function verifyInclusion(claim: InclusionClaim): boolean {
  const { index, leafHash, size, root, proof } = claim;
  if (!isSize(size) || !isSize(index) || index >= size) return false;
  if (![leafHash, root, ...proof].every(isHash)) return false;
  let node = index;
  let last = size - 1;
  let computed = leafHash;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      computed = hashNode(sibling, computed);
      for (; node % 2 === 0 && node !== 0; last = half(last)) node = half(node);
    } else {
      computed = hashNode(computed, sibling);
    }
    node = half(node);
    last = half(last);
  }
  return last === 0 && Buffer.compare(computed, root) === 0;
}

export interface ConsistencyClaim {
  readonly oldSize: number;
  readonly oldRoot: Uint8Array;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** RFC 9162, 2.1.4.2. The empty tree is the beginning of every tree; its proof is empty. */
export function verifyConsistency(claim: ConsistencyClaim): boolean {
  const { oldSize, oldRoot, size, root, proof } = claim;
  if (!isSize(oldSize) || !isSize(size) || oldSize > size) return false;
  if (![oldRoot, root, ...proof].every(isHash)) return false;
  if (oldSize === 0) return proof.length === 0 && Buffer.compare(oldRoot, sha256('')) === 0;
  if (oldSize === size) return proof.length === 0 && Buffer.compare(oldRoot, root) === 0;

  let node = oldSize - 1;
  let last = size - 1;
  for (; node % 2 === 1; last = half(last)) node = half(node);
  // An old tree that is perfect is itself the first node.
  const [start, ...rest] = node === 0 ? [oldRoot, ...proof] : proof;
  if (start === undefined) return false;
  let computedOld = start;
  let computed = start;
  for (const sibling of rest) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      computedOld = hashNode(sibling, computedOld);
      computed = hashNode(sibling, computed);
      for (; node % 2 === 0 && node !== 0; last = half(last)) node = half(node);
    } else {
      computed = hashNode(computed, sibling);
    }
    node = half(node);
    last = half(last);
  }
  return last === 0 && Buffer.compare(computedOld, oldRoot) === 0 && Buffer.compare(computed, root) === 0;
}

/** `from` is a multiple of the smallest power of two that is not below the width, as in all ranges of a proof. */
function rootOfRange(from: number, to: number, read: NodeReader): Uint8Array {
  const width = to - from;
  const split = splitOf(width);
  if (width === 1 || width === 2 * split) return read(Math.round(Math.log2(width)), from / width);
  return hashNode(rootOfRange(from, from + split, read), rootOfRange(from + split, to, read));
}

/** The largest power of two below `width`, where RFC 6962 cuts a tree. */
function splitOf(width: number): number {
  let split = 1;
  while (2 * split < width) split *= 2;
  return split;
}

// Sizes may pass 2^32, so no bit operators.
function half(value: number): number {
  return Math.floor(value / 2);
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isHash(value: Uint8Array): boolean {
  return value.length === hashBytes;
}
