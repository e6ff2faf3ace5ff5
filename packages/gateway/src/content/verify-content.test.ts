import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { noise, openStore } from './content.test-kit.ts';

test('verify reads everything and names what is damaged and what is gone', async (context) => {
  requirement('NFR-2');
  const { store, put, pathOf } = await openStore(context);
  const [damaged, lost] = [await put(noise(300_000, 1)), await put(noise(20, 2))];
  await put(noise(30, 3));
  const before = await store.verify();
  assert.deepEqual(before, { checked: 3, checkedBytes: 300_050, corrupted: [], missing: [] });

  const bytes = noise(300_000, 1);
  bytes[299_999] = 1 ^ (bytes[299_999] ?? 0);
  writeFileSync(pathOf(damaged.hash), bytes);
  rmSync(pathOf(lost.hash));
  const after = await store.verify();
  assert.deepEqual(after, { checked: 2, checkedBytes: 300_030, corrupted: [damaged.hash], missing: [lost.hash] });
});

test('verify stops when it is told to', async (context) => {
  const { store, put } = await openStore(context);
  await put(noise(10));
  await assert.rejects(store.verify(AbortSignal.abort(new Error('enough'))), /enough/);
});
