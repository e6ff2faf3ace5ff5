import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { filesList } from './files-list.ts';
import { endsWith, TestWorkspace } from './test-workspace.ts';

function pathsOf(answer: JsonObject): readonly unknown[] {
  return (answer['entries'] as readonly JsonObject[]).map((entry) => entry['path']);
}

test('entries are sorted and carry kind, size and time', async () => {
  requirement('CAT-1');
  using workspace = new TestWorkspace();
  utimesSync(workspace.put('b.txt', 'four'), 1, 1);
  workspace.put('a/inner.txt');
  symlinkSync('b.txt', workspace.at('c'));
  const answer = await workspace.call(filesList, {});
  assert.deepEqual(pathsOf(answer), ['a', 'b.txt', 'c']);
  const [folder, file, link] = answer['entries'] as readonly JsonObject[];
  assert.deepEqual([folder?.['kind'], folder?.['size']], ['folder', 0]);
  assert.deepEqual(file, { path: 'b.txt', kind: 'file', size: 4, modified: '1970-01-01T00:00:01.000Z' });
  assert.equal(link?.['kind'], 'link');
});

test('names with numbers are in the order in which people count', async () => {
  using workspace = new TestWorkspace();
  for (const name of ['f10', 'f1', 'f2']) workspace.put(name);
  assert.deepEqual(pathsOf(await workspace.call(filesList, {})), ['f1', 'f2', 'f10']);
});

test('a recursive list puts a folder before what is in it and does not enter links', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a/b/c.txt');
  workspace.put('a.txt');
  symlinkSync('..', workspace.at('a/loop'));
  symlinkSync(workspace.outside, workspace.at('a/out'));
  const answer = await workspace.call(filesList, { recursive: true });
  assert.deepEqual(pathsOf(answer), ['a', 'a/b', 'a/b/c.txt', 'a/loop', 'a/out', 'a.txt']);
});

test('entries that the rules keep back are omitted and counted', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  workspace.put('forbidden.txt');
  workspace.put('a/forbidden/deep.txt');
  workspace.put('a/seen.txt');
  const answer = await workspace.call(filesList, { recursive: true });
  assert.deepEqual(pathsOf(answer), ['a', 'a/seen.txt']);
  assert.equal(answer['omitted'], 2);
});

test('hidden entries are left out and counted unless they are asked for', async () => {
  using workspace = new TestWorkspace();
  workspace.put('.hidden');
  workspace.put('seen');
  const answer = await workspace.call(filesList, {});
  assert.deepEqual([pathsOf(answer), answer['hidden']], [['seen'], 1]);
  assert.deepEqual(pathsOf(await workspace.call(filesList, { include_hidden: true })), ['.hidden', 'seen']);
});

test('max_entries cuts the list and says so only when something is missing', async () => {
  using workspace = new TestWorkspace();
  for (const name of ['a', 'b', 'c']) workspace.put(name);
  const cut = await workspace.call(filesList, { max_entries: 2 });
  assert.deepEqual([pathsOf(cut), cut['truncated']], [['a', 'b'], true]);
  assert.equal((await workspace.call(filesList, { max_entries: 3 }))['truncated'], false);
});

test('names with line breaks and quotes are listed as they are', async () => {
  using workspace = new TestWorkspace();
  const names = ['a\nb', 'c"d\\e', '\u202Ef'];
  for (const name of names) workspace.put(name);
  assert.deepEqual(pathsOf(await workspace.call(filesList, {})), names);
});

test('a name that is not UTF-8 is omitted and counted', async () => {
  using workspace = new TestWorkspace();
  mkdirSync(Buffer.concat([Buffer.from(`${workspace.path}/`), Buffer.from([0xff])]));
  const answer = await workspace.call(filesList, { recursive: true });
  assert.deepEqual(pathsOf(answer), []);
  assert.ok(Number(answer['omitted']) > 0);
});

test('a tree deeper than a walk goes is cut, with no descriptor left open', async () => {
  using workspace = new TestWorkspace();
  mkdirSync(workspace.at(...Array<string>(100).fill('d')), { recursive: true });
  const answer = await workspace.call(filesList, { recursive: true });
  assert.equal(answer['truncated'], true);
});

test('a folder behind a link is listed if it is allowed and refused if it is not', async () => {
  using workspace = new TestWorkspace();
  workspace.put('real/a.txt');
  symlinkSync('real', workspace.at('inside'));
  symlinkSync('../outside', workspace.at('out'));
  assert.deepEqual(pathsOf(await workspace.call(filesList, { path: 'inside' })), ['a.txt']);
  await assert.rejects(workspace.call(filesList, { path: 'out' }), endsWith('UNSAFE_PATH'));
});

test('a file is not a folder, and a missing folder is not found', async () => {
  using workspace = new TestWorkspace();
  workspace.put('file');
  await assert.rejects(workspace.call(filesList, { path: 'file' }), endsWith('NOT_A_FOLDER'));
  await assert.rejects(workspace.call(filesList, { path: 'missing' }), endsWith('NOT_FOUND'));
});
