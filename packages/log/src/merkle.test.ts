import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../test/requirement.ts';
import { hashLeaf, MerkleFrontier } from './merkle.ts';
import vectors from './vectors.json' with { type: 'json' };

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** MTH of RFC 6962, 2.1, word by word. */
function naiveRoot(leaves: readonly Uint8Array[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return sha256(Buffer.of(0), only);
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

const leaves = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 70 });

function frontierOf(items: readonly Uint8Array[]): MerkleFrontier {
  const frontier = new MerkleFrontier();
  for (const leaf of items) frontier.append(hashLeaf(leaf));
  return frontier;
}

test('the root of an appended tree is the one that RFC 6962 defines', () => {
  requirement('AUD-3');
  fc.assert(
    fc.property(leaves, (items) => {
      assert.deepEqual(frontierOf(items).root(), naiveRoot(items));
    }),
  );
});

test('the reference tree of Certificate Transparency has its known roots at every size', () => {
  const { leaves: hexLeaves, roots } = vectors.referenceTree;
  const items = hexLeaves.map((leaf) => Buffer.from(leaf, 'hex'));
  const computed = roots.map((_, size) => frontierOf(items.slice(0, size)).root().toString('hex'));
  assert.deepEqual(computed, roots);
  assert.equal(roots[0], createHash('sha256').update('').digest('hex'));
});

test('leaves of any length are hashed with nothing left of the one before', () => {
  for (const length of [108, 0, 70_000, 108, 1]) {
    const leaf = Buffer.alloc(length, 7);
    assert.deepEqual(hashLeaf(leaf), sha256(Buffer.of(0), leaf));
  }
});

test('a stored frontier goes on where the first one stopped', () => {
  fc.assert(
    fc.property(leaves, leaves, (before, after) => {
      const restored = MerkleFrontier.decode(frontierOf(before).encode());
      assert.equal(restored.size, before.length);
      for (const leaf of after) restored.append(hashLeaf(leaf));
      assert.deepEqual(restored.root(), naiveRoot([...before, ...after]));
    }),
  );
  const items = vectors.records.map((record) => Buffer.from(record.leaf, 'hex'));
  assert.equal(frontierOf(items).encode().toString('hex'), vectors.frontier);
});

test('a clone does not grow with the frontier it was taken from', () => {
  const frontier = frontierOf([Buffer.of(1), Buffer.of(2), Buffer.of(3)]);
  const clone = frontier.clone();
  const root = clone.root();
  frontier.append(hashLeaf(Buffer.of(4)));
  assert.equal(clone.size, 3);
  assert.deepEqual(clone.root(), root);
  assert.notDeepEqual(frontier.root(), root);
});

test('changing a root that was handed out does not change the tree', () => {
  const frontier = frontierOf([Buffer.of(1)]);
  frontier.root().fill(0);
  assert.deepEqual(frontier.root(), naiveRoot([Buffer.of(1)]));
});

test('bytes that cannot be a frontier are refused', () => {
  const good = frontierOf([Buffer.of(1), Buffer.of(2), Buffer.of(3)]).encode();
  const tooLarge = Buffer.alloc(8, 0xff);
  const bad = [Buffer.alloc(0), good.subarray(0, 7), good.subarray(0, -1), Buffer.concat([good, good]), tooLarge];
  for (const bytes of bad) assert.throws(() => MerkleFrontier.decode(bytes), /frontier/);
});

test('only hashes of 32 bytes are appended', () => {
  assert.throws(() => new MerkleFrontier().append(Buffer.alloc(31)), /32 bytes/);
});
