import { hashLeaf, hashNode, MerkleFrontier } from '@sallyport/log';
import type { NodeReader } from '@sallyport/log';
import type { Database, Row } from '../database.ts';

/**
 * Reads nodes of the tree for proofs: from the edges that are stored with checkpoints where one has the node, and else
 * from the nodes below it. A node of ten million records takes some twenty small reads, as long as there are
 * checkpoints. What is stored is not trusted: verify the proof before you give it to anybody. Throws RangeError when a
 * leaf is missing.
 */
export function readNodes(database: Database): NodeReader {
  const edge = database.prepare('SELECT frontier FROM checkpoints WHERE size >= ? AND size < ? ORDER BY size LIMIT 1');
  const leaf = database.prepare('SELECT leaf FROM records WHERE position = ?');
  const read: NodeReader = (level, index) => {
    if (level === 0) return hashStored(leaf.get(index), index);
    const width = 2 ** level;
    const end = (index + 1) * width;
    // A left child is at the edge from when it is full until its parent is. A right one never is.
    const stored = index % 2 === 0 ? peakOf(edge.get(end, end + width), level) : undefined;
    return stored ?? hashNode(read(level - 1, 2 * index), read(level - 1, 2 * index + 1));
  };
  return read;
}

function hashStored(row: Row | undefined, index: number): Uint8Array {
  if (!(row?.['leaf'] instanceof Uint8Array)) throw new RangeError(`record ${index} is not there`);
  return hashLeaf(row['leaf']);
}

function peakOf(row: Row | undefined, level: number): Uint8Array | undefined {
  try {
    return row && MerkleFrontier.decode(row['frontier'] as Uint8Array).peakAt(level);
  } catch {
    return undefined;
  }
}
