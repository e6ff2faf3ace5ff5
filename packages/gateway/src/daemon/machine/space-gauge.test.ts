import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { watchSpace } from './space-gauge.ts';

test('what cannot be read counts as low; the answer is kept for a second and then read again', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-space-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const watched = join(folder, 'watched');
  let nowMs = 5000;
  const gauge = watchSpace(watched, () => nowMs);
  assert.equal(gauge.isLow(), true);
  mkdirSync(watched);
  nowMs += 999;
  assert.equal(gauge.isLow(), true);
  nowMs += 1;
  // The folder of the tests has more than 64 MB to spare, or nothing here would run.
  assert.equal(gauge.isLow(), false);
  rmdirSync(watched);
  assert.equal(gauge.isLow(), false);
  nowMs += 1000;
  assert.equal(gauge.isLow(), true);
});

test('it asks by itself at the first question', () => {
  assert.equal(watchSpace('/no/such/folder').isLow(), true);
});
