import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { filesEdit } from './files-edit.ts';
import { endsWith, TestWorkspace } from './test-workspace.ts';

test('the one passage that matches is replaced', async () => {
  requirement('CAT-1');
  using workspace = new TestWorkspace();
  chmodSync(workspace.put('a.txt', 'one\ntwö\nthree\n'), 0o640);
  const answer = await workspace.call(filesEdit, { path: 'a.txt', old_content: 'twö', new_content: '2' });
  const after = 'one\n2\nthree\n';
  assert.deepEqual(answer, { path: 'a.txt', line: 2, bytes: after.length, sha256: hash('sha256', after) });
  assert.equal(workspace.text('a.txt'), after);
  assert.equal(statSync(workspace.at('a.txt')).mode & 0o777, 0o640);
  assert.equal(workspace.keptText(workspace.changes[0]), 'one\ntwö\nthree\n');
});

test('a passage that is missing or stands twice is left alone, and the answer says how often it is there', async () => {
  requirement('CAT-1');
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'aaa b');
  const edit = (old_content: string) => workspace.call(filesEdit, { path: 'a.txt', old_content, new_content: 'x' });
  await assert.rejects(edit('c'), endsWith('NO_MATCH'));
  await assert.rejects(edit('a'), endsWith('MULTIPLE_MATCHES', /3 times/));
  await assert.rejects(edit('aa'), endsWith('MULTIPLE_MATCHES', /2 times/));
  assert.equal(workspace.text('a.txt'), 'aaa b');
});

test('bytes around the passage stay as they are, text or not', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.bin', Buffer.from([0xff, 0x61, 0x00, 0xfe]));
  await workspace.call(filesEdit, { path: 'a.bin', old_content: 'a', new_content: 'bc' });
  assert.deepEqual(readFileSync(workspace.at('a.bin')), Buffer.from([0xff, 0x62, 0x63, 0x00, 0xfe]));
});

test('a file that is missing is not made', async () => {
  using workspace = new TestWorkspace();
  workspace.put('near.txt');
  for (const path of ['nea.txt', 'missing/near.txt']) {
    const call = workspace.call(filesEdit, { path, old_content: 'a', new_content: '' });
    await assert.rejects(call, endsWith('NOT_FOUND', path === 'nea.txt' ? /near\.txt/ : /./));
  }
});

test('a change by another program while an edit runs is kept and reported', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'needle');
  const countUsage = () => void workspace.put('a.txt', 'theirs');
  const args = { path: 'a.txt', old_content: 'needle', new_content: 'pin' };
  const call = workspace.call(filesEdit, args, { countUsage });
  await assert.rejects(call, endsWith('FILE_CHANGED'));
  assert.equal(workspace.text('a.txt'), 'theirs');
});

test('200 concurrent edits of one file lose nothing', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  const marks = Array.from({ length: 200 }, (_, index) => `[${index}]`);
  workspace.put('a.txt', marks.join(''));
  await Promise.all(
    marks.map((mark) =>
      workspace.call(filesEdit, { path: 'a.txt', old_content: mark, new_content: `<${mark.slice(1, -1)}>` }),
    ),
  );
  assert.equal(workspace.text('a.txt'), marks.map((mark) => `<${mark.slice(1, -1)}>`).join(''));
});

test('the preview shows the diff and fails as the edit would', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'a\nb\n');
  const effect = await workspace.preview(filesEdit, { path: 'a.txt', old_content: 'b', new_content: 'c' });
  assert.match(effect.detail, /^-b\n\+c$/m);
  assert.equal(workspace.text('a.txt'), 'a\nb\n');
  const wrong = workspace.preview(filesEdit, { path: 'a.txt', old_content: 'z', new_content: 'c' });
  await assert.rejects(wrong, endsWith('NO_MATCH'));
});

test('the preview of an edit in a large file shows the passage', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', `${'x\n'.repeat(1_000_000)}needle\n`);
  const effect = await workspace.preview(filesEdit, { path: 'a.txt', old_content: 'needle', new_content: 'pin' });
  assert.match(effect.detail, /^@@ -999998,4 \+999998,4 @@\n x\n x\n x\n-needle\n\+pin\n$/m);
  assert.ok(effect.detail.length < 100);
});
