import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockHashes } from './block-hashes.ts';

const blocks = (digests: number) => ({ sizeBytes: digests, digests: Buffer.alloc(32 * digests) });

test('what was used last is remembered, within the memory that is allowed', () => {
  const known = new BlockHashes({ maxBytes: 96 });
  known.remember('a', blocks(1));
  known.remember('b', blocks(1));
  known.find('a');
  known.remember('c', blocks(2));
  assert.equal(known.find('b'), undefined);
  assert.deepEqual(known.find('a'), blocks(1));
  assert.deepEqual(known.find('c'), blocks(2));
  known.remember('c', blocks(1));
  known.remember('d', blocks(1));
  assert.deepEqual(known.find('a'), blocks(1), 'what is replaced takes its room only once');
  known.remember('huge', blocks(4));
  assert.equal(known.find('huge'), undefined);
});
