import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashLeaf, MerkleFrontier, readNodesOf } from '@sallyport/log';
import { Database } from '../database.ts';
import { readNodes } from './log-nodes.ts';

const size = 200;
const leaves = Array.from({ length: size }, (_, index) => Buffer.from(`leaf ${index}`));
const expected = readNodesOf(leaves.map((leaf) => hashLeaf(leaf)));

/** A log of 200 leaves with checkpoints over these sizes. */
function openLog(sizes: readonly number[], edgeOf = (tree: MerkleFrontier): Uint8Array => tree.encode()): Database {
  const database = Database.openInMemory();
  database.execute('CREATE TABLE records (position INTEGER PRIMARY KEY, leaf BLOB)');
  database.execute('CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, frontier BLOB)');
  const insert = database.prepare('INSERT INTO records VALUES (?, ?)');
  const sign = database.prepare('INSERT INTO checkpoints VALUES (?, ?)');
  const tree = new MerkleFrontier();
  for (const [index, leaf] of leaves.entries()) {
    insert.run(index, leaf);
    tree.append(hashLeaf(leaf));
    if (sizes.includes(tree.size)) sign.run(tree.size, edgeOf(tree));
  }
  return database;
}

function checkAll(database: Database): void {
  const read = readNodes(database);
  for (let level = 0; 2 ** level <= size; level += 1) {
    for (let index = 0; (index + 1) * 2 ** level <= size; index += 1) {
      assert.deepEqual(Buffer.from(read(level, index)), Buffer.from(expected(level, index)), `${level} ${index}`);
    }
  }
}

test('a node is the same from stored edges and from leaves', () => {
  checkAll(openLog([]));
  checkAll(openLog([size]));
  checkAll(openLog([1, 3, 64, 65, 100, 128, 130, 191, 200]));
  checkAll(openLog(leaves.map((_, index) => index + 1)));
});

test('where edges are stored, hardly any leaf is read', () => {
  const database = openLog(leaves.map((_, index) => index + 1));
  database.execute('DELETE FROM records WHERE position < 126');
  assert.deepEqual(Buffer.from(readNodes(database)(7, 0)), Buffer.from(expected(7, 0)));
});

test('an edge that is not one is passed over, and a leaf that is gone is said to be', () => {
  checkAll(openLog([64, 128], () => Buffer.from('nonsense')));
  const database = openLog([]);
  database.execute('DELETE FROM records WHERE position = 7');
  assert.throws(() => readNodes(database)(3, 0), /record 7 is not there/);
});
