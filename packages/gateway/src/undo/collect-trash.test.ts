import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { collectTrash } from './collect-trash.ts';

const dayMs = 86_400_000;

test('what no change refers to any more is removed when its time is over, and nothing before', async (t) => {
  const trashFolder = mkdtempSync(join(tmpdir(), 'sallyport-trash-'));
  t.after(() => rmSync(trashFolder, { recursive: true, force: true }));
  writeFileSync(join(trashFolder, 'needed'), 'a');
  writeFileSync(join(trashFolder, 'over'), 'b');
  mkdirSync(join(trashFolder, 'folder'));
  writeFileSync(join(trashFolder, 'folder', 'deep'), 'c');
  const dropped: number[] = [];
  const journal = {
    dropJournal: (beforeMs: number) => Promise.resolve(dropped.push(beforeMs)),
    listKept: () => Promise.resolve(new Set(['needed'])),
  };
  const parts = { journal, trashFolder, keepMs: 2 * dayMs };
  const nowMs = Date.now();
  assert.equal(await collectTrash(parts, nowMs + dayMs), 0, 'it is not old enough');
  assert.equal(await collectTrash(parts, nowMs + 3 * dayMs), 2);
  assert.deepEqual(readdirSync(trashFolder), ['needed']);
  assert.deepEqual(dropped, [nowMs - dayMs, nowMs + dayMs]);
  assert.equal(await collectTrash({ ...parts, trashFolder: join(trashFolder, 'missing') }, nowMs), 0);
});
