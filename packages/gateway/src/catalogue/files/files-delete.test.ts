import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { filesDelete } from './files-delete.ts';
import { endsWith, TestWorkspace } from './test-workspace.ts';

function trashed(workspace: TestWorkspace, answer: JsonObject): string {
  return join(workspace.context.trashFolder, answer['trashed_as'] as string);
}

test('a deleted file lies in the trash under a name with the id of the call', async () => {
  requirement('CAT-1');
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'content');
  const answer = await workspace.call(filesDelete, { path: 'a.txt' });
  assert.equal(answer['files'], 1);
  assert.ok(!existsSync(workspace.at('a.txt')));
  assert.ok((answer['trashed_as'] as string).startsWith(workspace.context.callId));
  const kept = trashed(workspace, answer);
  assert.equal(readFileSync(kept, 'utf8'), 'content');
  const [change, ...others] = workspace.changes;
  assert.deepEqual(others, []);
  assert.deepEqual(change, { ...change, path: workspace.at('a.txt'), after: { kind: 'absent' }, kept: basename(kept) });
  assert.deepEqual(change?.before, { ...change?.before, kind: 'file', sha256: hash('sha256', 'content') });
});

test('a folder needs recursive unless it is empty', async () => {
  using workspace = new TestWorkspace();
  workspace.put('full/deep/a.txt', 'a');
  workspace.put('full/.b.txt', 'b');
  mkdirSync(workspace.at('empty'));
  await assert.rejects(workspace.call(filesDelete, { path: 'full' }), endsWith('NOT_A_FILE', /recursive/));
  assert.equal((await workspace.call(filesDelete, { path: 'empty' }))['files'], 0);
  const answer = await workspace.call(filesDelete, { path: 'full', recursive: true });
  assert.equal(answer['files'], 2);
  assert.equal(readFileSync(join(trashed(workspace, answer), 'deep/a.txt'), 'utf8'), 'a');
  assert.deepEqual(readdirSync(workspace.path), []);
});

test('a link is deleted itself, and links inside a folder are not followed', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  symlinkSync(workspace.outside, workspace.at('link'));
  workspace.put('folder/a.txt');
  symlinkSync(workspace.outside, workspace.at('folder/link'));
  assert.equal((await workspace.call(filesDelete, { path: 'link' }))['files'], 1);
  assert.equal((await workspace.call(filesDelete, { path: 'folder', recursive: true }))['files'], 2);
  await assert.rejects(workspace.call(filesDelete, { path: 'link/secret.txt' }), endsWith('NOT_FOUND'));
  assert.deepEqual(workspace.outsideNames(), ['secret.txt']);
});

test('a folder that holds something forbidden is not deleted', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  workspace.put('folder/deep/forbidden.txt');
  workspace.put('folder/a.txt');
  await assert.rejects(workspace.call(filesDelete, { path: 'folder', recursive: true }), endsWith('RULE_DENIES'));
  assert.ok(existsSync(workspace.at('folder/a.txt')));
});

test('the working directory and what it lies in cannot be deleted', () => {
  using workspace = new TestWorkspace();
  for (const path of ['.', workspace.path, '/', '/tmp']) {
    assert.throws(() => filesDelete.claim({ path, recursive: true }, workspace.session), endsWith('UNSAFE_PATH'));
  }
});

test('special files stay, and missing ones are not found', async () => {
  using workspace = new TestWorkspace();
  execFileSync('mkfifo', [workspace.at('pipe')]);
  await assert.rejects(workspace.call(filesDelete, { path: 'pipe' }), endsWith('NOT_A_FILE'));
  await assert.rejects(workspace.call(filesDelete, { path: 'pip' }), endsWith('NOT_FOUND', /pipe/));
});

test('a trash on another file system gets a copy, links as links', async () => {
  const trashFolder = mkdtempSync('/dev/shm/sallyport-');
  try {
    using workspace = new TestWorkspace({ trashFolder });
    chmodSync(workspace.put('folder/deep/a.txt', 'a'.repeat(200_000)), 0o640);
    symlinkSync(workspace.outside, workspace.at('folder/link'));
    workspace.put('file', 'f');
    const folder = await workspace.call(filesDelete, { path: 'folder', recursive: true });
    const file = await workspace.call(filesDelete, { path: 'file' });
    const kept = trashed(workspace, folder);
    assert.equal(readFileSync(join(kept, 'deep/a.txt'), 'utf8').length, 200_000);
    assert.equal(statSync(join(kept, 'deep/a.txt')).mode & 0o777, 0o640);
    assert.equal(readlinkSync(join(kept, 'link')), workspace.outside);
    assert.equal(readFileSync(trashed(workspace, file), 'utf8'), 'f');
    assert.deepEqual(readdirSync(workspace.path), []);
    assert.deepEqual(workspace.outsideNames(), ['secret.txt']);
  } finally {
    rmSync(trashFolder, { recursive: true });
  }
});

test('what a trash on another file system cannot keep is not deleted', async () => {
  const trashFolder = mkdtempSync('/dev/shm/sallyport-');
  try {
    using workspace = new TestWorkspace({ trashFolder });
    workspace.put('folder/a.txt', 'a');
    execFileSync('mkfifo', [workspace.at('folder/pipe')]);
    await assert.rejects(workspace.call(filesDelete, { path: 'folder', recursive: true }), endsWith('NOT_A_FILE'));
    assert.deepEqual(readdirSync(workspace.path), ['folder']);
    assert.deepEqual(readdirSync(workspace.at('folder')), ['a.txt', 'pipe']);
    assert.deepEqual(readdirSync(trashFolder), []);
  } finally {
    rmSync(trashFolder, { recursive: true });
  }
});

test('a private file with a second name is not copied to a trash on another file system', async () => {
  requirement('EXEC-7');
  const trashFolder = mkdtempSync('/dev/shm/sallyport-');
  try {
    using workspace = new TestWorkspace({ trashFolder });
    chmodSync(join(workspace.outside, 'secret.txt'), 0o600);
    linkSync(join(workspace.outside, 'secret.txt'), workspace.at('linked'));
    await assert.rejects(workspace.call(filesDelete, { path: 'linked' }), endsWith('UNSAFE_PATH'));
    assert.deepEqual([readdirSync(workspace.path), readdirSync(trashFolder)], [['linked'], []]);
  } finally {
    rmSync(trashFolder, { recursive: true });
  }
});

test('the preview lists the files and deletes none', async () => {
  using workspace = new TestWorkspace();
  workspace.put('folder/a.txt');
  workspace.put('folder/b/c.txt');
  const effect = await workspace.preview(filesDelete, { path: 'folder', recursive: true });
  assert.deepEqual([effect.summary, effect.detail], ['Delete folder (2 files)', 'folder/a.txt\nfolder/b/c.txt\n']);
  assert.ok(lstatSync(workspace.at('folder/a.txt')).isFile());
});
