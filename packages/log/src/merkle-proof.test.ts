import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../test/requirement.ts';
import { hashLeaf, hashNode, MerkleFrontier, sha256 } from './merkle.ts';
import { proveConsistency, proveInclusion, readNodesOf, verifyConsistency, verifyInclusion } from './merkle-proof.ts';
import vectors from './vectors.json' with { type: 'json' };

const maxSize = 40;
const leafHashes = Array.from({ length: maxSize }, (_, index) => hashLeaf(Buffer.from(`leaf ${index}`)));
const roots = [...rootsOf(leafHashes)];
const read = readNodesOf(leafHashes);
const root = (size: number) => roots[size] as Buffer;

function* rootsOf(hashes: readonly Uint8Array[]): Generator<Buffer> {
  const frontier = new MerkleFrontier();
  yield frontier.root();
  for (const leafHash of hashes) {
    frontier.append(leafHash);
    yield frontier.root();
  }
}

const hex = (hashes: readonly Uint8Array[]) => hashes.map((bytes) => Buffer.from(bytes).toString('hex'));
const unhex = (texts: readonly string[]) => texts.map((text) => Buffer.from(text, 'hex'));

test('every leaf of every tree has an inclusion proof that verifies', () => {
  requirement('AUD-3');
  for (let size = 1; size <= maxSize; size += 1) {
    for (let index = 0; index < size; index += 1) {
      const proof = proveInclusion(index, size, read);
      const leafHash = leafHashes[index] as Buffer;
      assert.ok(verifyInclusion({ index, leafHash, size, root: root(size), proof }), `${index} in ${size}`);
    }
  }
});

test('every tree has a consistency proof with each of its beginnings', () => {
  requirement('AUD-3');
  for (let size = 0; size <= maxSize; size += 1) {
    for (let oldSize = 0; oldSize <= size; oldSize += 1) {
      const proof = proveConsistency(oldSize, size, read);
      const claim = { oldSize, oldRoot: root(oldSize), size, root: root(size), proof };
      assert.ok(verifyConsistency(claim), `${oldSize} before ${size}`);
    }
  }
});

test('the proofs are byte for byte those of golang.org/x/mod/sumdb/tlog', () => {
  const hashes = unhex(vectors.records.map((record) => record.leafHash));
  const nodes = readNodesOf(hashes);
  const treeRoots = unhex(vectors.roots);
  assert.deepEqual([...rootsOf(hashes)], treeRoots);
  for (const { index, size, proof } of vectors.inclusionProofs) {
    assert.deepEqual(hex(proveInclusion(index, size, nodes)), proof);
  }
  for (const { oldSize, size, proof } of vectors.consistencyProofs) {
    assert.deepEqual(hex(proveConsistency(oldSize, size, nodes)), proof);
  }
});

test('an inclusion proof with anything changed does not verify', () => {
  const size = fc.integer({ min: 1, max: maxSize });
  fc.assert(
    fc.property(size, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), (treeSize, pick, place, flip) => {
      const index = pick % treeSize;
      const proof = proveInclusion(index, treeSize, read).map((node) => Uint8Array.from(node));
      const leafHash = Uint8Array.from(leafHashes[index] as Buffer);
      const claim = { index, leafHash, size: treeSize, root: root(treeSize), proof };
      assert.ok(!verifyInclusion({ ...claim, root: sha256('another') }));
      assert.ok(!verifyInclusion({ ...claim, proof: [...proof, leafHash] }));
      assert.ok(!verifyInclusion({ ...claim, index: treeSize }));
      if (treeSize > 1) {
        assert.ok(!verifyInclusion({ ...claim, proof: proof.slice(1) }));
        assert.ok(!verifyInclusion({ ...claim, index: (index + 1) % treeSize }));
      }
      const parts = [leafHash, ...proof];
      const part = parts[place % parts.length] as Uint8Array;
      part[place % 32] = (part[place % 32] as number) ^ flip;
      assert.ok(!verifyInclusion(claim));
    }),
  );
});

test('a consistency proof with anything changed does not verify', () => {
  const size = fc.integer({ min: 2, max: maxSize });
  fc.assert(
    fc.property(size, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), (treeSize, pick, place, flip) => {
      const oldSize = 1 + (pick % (treeSize - 1));
      const proof = proveConsistency(oldSize, treeSize, read).map((node) => Uint8Array.from(node));
      const claim = { oldSize, oldRoot: root(oldSize), size: treeSize, root: root(treeSize), proof };
      assert.ok(!verifyConsistency({ ...claim, oldRoot: sha256('another') }));
      assert.ok(!verifyConsistency({ ...claim, root: sha256('another') }));
      assert.ok(!verifyConsistency({ ...claim, proof: proof.slice(1) }));
      assert.ok(!verifyConsistency({ ...claim, proof: [...proof, root(1)] }));
      assert.ok(!verifyConsistency({ ...claim, oldSize: treeSize + 1 }));
      const node = proof[place % proof.length] as Uint8Array;
      node[place % 32] = (node[place % 32] as number) ^ flip;
      assert.ok(!verifyConsistency(claim));
    }),
  );
});

test('hashes of other lengths are not glued together', () => {
  const [left, right] = [leafHashes[0] as Buffer, leafHashes[1] as Buffer];
  const both = Buffer.concat([left, right]);
  const shifted = { leafHash: both.subarray(0, 31), proof: [both.subarray(31)] };
  assert.ok(!verifyInclusion({ index: 0, size: 2, root: root(2), ...shifted }));
  assert.ok(!verifyConsistency({ oldSize: 1, oldRoot: both.subarray(0, 31), size: 2, root: root(2), proof: [right] }));
});

test('the empty tree is the beginning of every tree, and only with its own root', () => {
  assert.ok(verifyConsistency({ oldSize: 0, oldRoot: sha256(''), size: 5, root: root(5), proof: [] }));
  assert.ok(!verifyConsistency({ oldSize: 0, oldRoot: root(5), size: 5, root: root(5), proof: [] }));
});

test('proofs for places that do not exist are not made', () => {
  assert.throws(() => proveInclusion(3, 3, read), RangeError);
  assert.throws(() => proveInclusion(-1, 3, read), RangeError);
  assert.throws(() => proveInclusion(0.5, 3, read), RangeError);
  assert.throws(() => proveConsistency(4, 3, read), RangeError);
  assert.throws(() => proveInclusion(0, maxSize + 1, read), /no leaf/);
});

test('proofs hold where places pass 32 bits', () => {
  // Equal leaves make equal nodes, so a tree of 2^40 leaves fits into one node a level.
  const leafHash = hashLeaf(Buffer.of(1));
  const levels = [leafHash];
  for (let level = 1; level <= 40; level += 1) {
    const below = levels[level - 1] as Buffer;
    levels.push(hashNode(below, below));
  }
  const node = (level: number) => levels[level] as Buffer;
  const size = 2 ** 40 + 3;
  const frontier = Buffer.alloc(8);
  frontier.writeBigUInt64BE(BigInt(size));
  const treeRoot = MerkleFrontier.decode(Buffer.concat([frontier, node(40), node(1), node(0)])).root();
  for (const index of [0, 2 ** 33 + 1, 2 ** 40 - 1, 2 ** 40, size - 1]) {
    const proof = proveInclusion(index, size, node);
    assert.ok(verifyInclusion({ index, leafHash, size, root: treeRoot, proof }), `leaf ${index}`);
  }
  const oldSize = 2 ** 40;
  const proof = proveConsistency(oldSize, size, node);
  assert.ok(verifyConsistency({ oldSize, oldRoot: node(40), size, root: treeRoot, proof }));
  assert.ok(!verifyConsistency({ oldSize: oldSize - 1, oldRoot: node(40), size, root: treeRoot, proof }));
});
