import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortenIds } from './short-id.ts';

test('ids are shown as far as they differ, and never shorter than their time', () => {
  const alone = '01a1e7f5-0062-7f98-9038-51d3776e7db6';
  const twin = '01a1e7f5-0062-7f99-9038-51d3776e7db6';
  assert.equal(shortenIds([alone]).get(alone), '01a1e7f5-0062');
  const both = shortenIds([alone, twin]);
  assert.deepEqual([both.get(alone), both.get(twin)], ['01a1e7f5-0062-7f98', '01a1e7f5-0062-7f99']);
  assert.equal(shortenIds([alone, alone]).get(alone), '01a1e7f5-0062');
});
