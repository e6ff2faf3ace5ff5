import assert from 'node:assert/strict';
import { existsSync, statSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { filesEnsureDir } from './files-ensure-dir.ts';
import { endsWith, TestWorkspace } from './test-workspace.ts';

test('missing folders are made and named, outermost first', async () => {
  requirement('CAT-1');
  using workspace = new TestWorkspace();
  workspace.put('a/file');
  assert.deepEqual((await workspace.call(filesEnsureDir, { path: 'a/b/c' }))['created'], ['a/b', 'a/b/c']);
  assert.ok(statSync(workspace.at('a/b/c')).isDirectory());
  const made = { before: { kind: 'absent' }, after: { kind: 'folder', mode: 0o777 } };
  const changes = ['a/b', 'a/b/c'].map((name) => ({ path: workspace.at(name), ...made }));
  assert.deepEqual([workspace.journaled, workspace.changes], [changes, changes]);
});

test('a second call changes nothing, and an absolute path is answered with absolute paths', async () => {
  using workspace = new TestWorkspace();
  const path = workspace.at('a');
  assert.deepEqual((await workspace.call(filesEnsureDir, { path }))['created'], [path]);
  assert.deepEqual((await workspace.call(filesEnsureDir, { path }))['created'], []);
  assert.deepEqual((await workspace.call(filesEnsureDir, { path: '.' }))['created'], []);
});

test('concurrent calls for the same folders all succeed', async () => {
  using workspace = new TestWorkspace();
  await Promise.all(Array.from({ length: 10 }, () => workspace.call(filesEnsureDir, { path: 'a/b/c/d' })));
  assert.ok(statSync(workspace.at('a/b/c/d')).isDirectory());
});

test('a file in the way, a link in the way and a forbidden name are refused', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  workspace.put('file');
  symlinkSync(workspace.outside, workspace.at('out'));
  await assert.rejects(workspace.call(filesEnsureDir, { path: 'file' }), endsWith('NOT_A_FOLDER'));
  await assert.rejects(workspace.call(filesEnsureDir, { path: 'file/below' }), endsWith('NOT_A_FOLDER'));
  await assert.rejects(workspace.call(filesEnsureDir, { path: 'out/below' }), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.call(filesEnsureDir, { path: 'forbidden' }), endsWith('NO_RULE_ALLOWS'));
  assert.deepEqual(workspace.outsideNames(), ['secret.txt']);
});

test('the preview names the folders and makes none', async () => {
  using workspace = new TestWorkspace();
  const effect = await workspace.preview(filesEnsureDir, { path: 'a/b' });
  assert.equal(effect.detail, 'a\na/b\n');
  assert.ok(!existsSync(workspace.at('a')));
});
