import assert from 'node:assert/strict';
import { chmodSync, linkSync, symlinkSync, truncateSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { filesSearch } from './files-search.ts';
import { endsWith, TestWorkspace } from './test-workspace.ts';

function pathsOf(answer: JsonObject): readonly unknown[] {
  return (answer['matches'] as readonly JsonObject[]).map((match) => match['path']);
}

test('files are found by the name, or by the path when the glob has a slash', async () => {
  requirement('CAT-1');
  using workspace = new TestWorkspace();
  for (const name of ['a.ts', 'src/b.ts', 'src/deep/c.tsx', 'src/d.md']) workspace.put(name);
  const find = async (name: string) => pathsOf(await workspace.call(filesSearch, { name }));
  assert.deepEqual(await find('*.ts'), ['a.ts', 'src/b.ts']);
  assert.deepEqual(await find('*.{ts,tsx}'), ['a.ts', 'src/b.ts', 'src/deep/c.tsx']);
  assert.deepEqual(await find('src/*.*'), ['src/b.ts', 'src/d.md']);
  assert.deepEqual(await find('src/**/*.tsx'), ['src/deep/c.tsx']);
  assert.deepEqual(await find('[a-b].ts'), ['a.ts', 'src/b.ts']);
});

test('lines are found by their text, with file, number and line', async () => {
  requirement('CAT-1');
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'one\ntwo (2)\r\nthree');
  workspace.put('b.md', 'two (2)');
  const answer = await workspace.call(filesSearch, { content: 'two (', name: '*.txt' });
  assert.deepEqual(answer['matches'], [{ path: 'a.txt', line: 2, text: 'two (2)' }]);
  assert.deepEqual([answer['stopped_by'], answer['truncated']], ['end', false]);
});

test('content can be a regular expression, and case can be ignored', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'Alpha\nbeta 12\n');
  const find = async (more: JsonObject) => (await workspace.call(filesSearch, more))['matches'];
  assert.equal(((await find({ content: '[0-9]{2}$', regex: true })) as JsonObject[]).length, 1);
  assert.equal(((await find({ content: 'ALPHA' })) as JsonObject[]).length, 0);
  assert.equal(((await find({ content: 'ALPHA', case_sensitive: false })) as JsonObject[]).length, 1);
});

test('a pattern that is not RE2, or a glob with open braces, is refused before anything runs', () => {
  using workspace = new TestWorkspace();
  const options = { path: '.', regex: true, case_sensitive: true, max_results: 1, include_hidden: false };
  for (const wrong of [{ content: '(?=x)' }, { content: '(' }, { name: '*.{a' }, { name: '}a{' }]) {
    assert.throws(() => filesSearch.claim({ ...options, ...wrong }, workspace.session), endsWith('INVALID_ARGUMENTS'));
  }
});

test('a pattern that makes backtracking engines hang ends at once', async () => {
  requirement('NFR-4');
  using workspace = new TestWorkspace();
  workspace.put('a.txt', `${'a'.repeat(5000)}!`);
  const answer = await workspace.call(filesSearch, { content: '^(a+)+$', regex: true });
  assert.deepEqual([answer['matches'], answer['stopped_by']], [[], 'end']);
});

test('binary and huge files are skipped and counted', async () => {
  using workspace = new TestWorkspace();
  workspace.put('binary', Buffer.from([0x66, 0x00, 0x66]));
  workspace.put('latin1', Buffer.from([0x66, 0xe4]));
  truncateSync(workspace.put('huge', 'f'), 5 * 1024 ** 2);
  workspace.put('text', 'f');
  const answer = await workspace.call(filesSearch, { content: 'f' });
  assert.deepEqual([pathsOf(answer), answer['skipped']], [['text'], 3]);
});

test('what the rules keep back is neither searched nor named, only counted', async () => {
  requirement('EXEC-7');
  using workspace = new TestWorkspace();
  workspace.put('forbidden.txt', 'needle');
  workspace.put('sub/forbidden/a.txt', 'needle');
  symlinkSync(`${workspace.outside}/secret.txt`, workspace.at('link.txt'));
  workspace.put('seen.txt', 'needle');
  const answer = await workspace.call(filesSearch, { content: 'e' });
  assert.deepEqual([pathsOf(answer), answer['omitted']], [['seen.txt'], 2]);
});

test('a private file with a second name is omitted and counted', async () => {
  using workspace = new TestWorkspace();
  chmodSync(`${workspace.outside}/secret.txt`, 0o600);
  linkSync(`${workspace.outside}/secret.txt`, workspace.at('linked.txt'));
  const answer = await workspace.call(filesSearch, { content: 'secret' });
  assert.deepEqual([answer['matches'], answer['omitted']], [[], 1]);
});

test('max_results cuts within a file and across files', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', 'x\nx\nx\n');
  workspace.put('b.txt', 'x\n');
  const answer = await workspace.call(filesSearch, { content: 'x', max_results: 2 });
  assert.deepEqual([pathsOf(answer), answer['stopped_by']], [['a.txt', 'a.txt'], 'max_results']);
  const all = await workspace.call(filesSearch, { content: 'x', max_results: 4 });
  assert.deepEqual([pathsOf(all).length, all['truncated']], [4, false]);
});

test('a long search lets other work run and ends when it is cancelled', async () => {
  using workspace = new TestWorkspace();
  const controller = new AbortController();
  for (let index = 0; index < 40; index++) workspace.put(`f${index}.txt`, 'line without it\n'.repeat(20_000));
  let turns = 0;
  const timer = setInterval(() => {
    if (++turns === 3) controller.abort();
  }, 1);
  try {
    const search = workspace.call(filesSearch, { content: 'needle' }, { signal: controller.signal });
    await assert.rejects(search, endsWith('CANCELLED'));
  } finally {
    clearInterval(timer);
  }
  // The timer may come once more before the search notices.
  assert.ok(turns >= 3, `${turns} turns`);
});

test('long lines are shortened in the answer', async () => {
  using workspace = new TestWorkspace();
  workspace.put('a.txt', `needle${'😀'.repeat(1000)}`);
  const answer = await workspace.call(filesSearch, { content: 'needle' });
  const text = (answer['matches'] as JsonObject[])[0]?.['text'] as string;
  assert.ok(text.startsWith('needle😀') && text.length <= 300 && text.isWellFormed());
});
