import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { filesMoveGlob } from './files-move-glob.ts';
import { endsWith, TestWorkspace } from './test-workspace.ts';

const args = { from: 'from', to: 'to', patterns: ['*.txt'] };

function prepare(...names: readonly string[]): TestWorkspace {
  const workspace = new TestWorkspace();
  for (const name of names) workspace.put(name, name);
  mkdirSync(workspace.at('to'), { recursive: true });
  return workspace;
}

test('matching files are moved, and folders, links and hidden files stay', async () => {
  requirement('CAT-1');
  using workspace = prepare('from/a.txt', 'from/b.md', 'from/.c.txt', 'from/d.txt/inner');
  symlinkSync('a.txt', workspace.at('from/e.txt'));
  const answer = await workspace.call(filesMoveGlob, { ...args, patterns: ['*.txt', 'b.*'] });
  assert.deepEqual(answer, { from: 'from', to: 'to', moved: ['a.txt', 'b.md'], failed: [], omitted: 0 });
  assert.deepEqual(readdirSync(workspace.at('to')), ['a.txt', 'b.md']);
  assert.deepEqual(readdirSync(workspace.at('from')), ['.c.txt', 'd.txt', 'e.txt']);
});

test('a name that is taken is reported and nothing is overwritten', async () => {
  using workspace = prepare('from/a.txt', 'from/b.txt', 'to/a.txt');
  const { moved, failed } = await workspace.call(filesMoveGlob, args);
  assert.deepEqual(moved, ['b.txt']);
  assert.deepEqual(failed, [{ name: 'a.txt', code: 'ALREADY_EXISTS', message: 'to/a.txt exists already.' }]);
  assert.equal(workspace.text('to/a.txt'), 'to/a.txt');
  assert.equal(workspace.text('from/a.txt'), 'from/a.txt');
});

test('with overwrite the former file is kept in the trash', async () => {
  using workspace = prepare('from/a.txt', 'to/a.txt');
  assert.deepEqual((await workspace.call(filesMoveGlob, { ...args, overwrite: true }))['moved'], ['a.txt']);
  assert.equal(workspace.text('to/a.txt'), 'from/a.txt');
  const [replaced, moved] = workspace.changes;
  assert.equal(workspace.keptText(replaced), 'to/a.txt');
  assert.deepEqual(moved, {
    path: workspace.at('from/a.txt'),
    before: { ...moved?.before, kind: 'file', sha256: hash('sha256', 'from/a.txt') },
    after: { kind: 'absent' },
    movedTo: workspace.at('to/a.txt'),
  });
});

test('files that the rules keep back at either end stay and are counted', async () => {
  requirement('EXEC-7');
  using workspace = prepare('from/a.txt', 'from/forbidden.txt');
  const answer = await workspace.call(filesMoveGlob, args);
  assert.deepEqual([answer['moved'], answer['omitted']], [['a.txt'], 1]);
  assert.ok(existsSync(workspace.at('from/forbidden.txt')));
});

test('one file that cannot be moved does not stop the others', async () => {
  using workspace = prepare('from/a.txt', 'from/b.txt', 'from/c.txt', 'to/b.txt/inner');
  const { moved, failed } = await workspace.call(filesMoveGlob, { ...args, overwrite: true });
  assert.deepEqual(moved, ['a.txt', 'c.txt']);
  assert.deepEqual(failed, [{ name: 'b.txt', code: 'NOT_A_FILE', message: 'to/b.txt is a folder.' }]);
});

test('a target on another file system gets a copy before the source goes', async () => {
  const elsewhere = mkdtempSync('/dev/shm/sallyport-');
  try {
    using workspace = prepare('from/a.txt', 'from/b.txt', 'from/large.txt');
    workspace.put('from/large.txt', 'x'.repeat(300_000));
    const paths = { judge: () => undefined };
    const to = { from: 'from', to: elsewhere, patterns: ['*'], overwrite: false };
    const answer = (await filesMoveGlob.run(to, { ...workspace.context, paths })) as { moved: string[] };
    assert.deepEqual(answer.moved, ['a.txt', 'b.txt', 'large.txt']);
    assert.deepEqual(readdirSync(workspace.at('from')), []);
    assert.equal(readFileSync(`${elsewhere}/a.txt`, 'utf8'), 'from/a.txt');
    assert.equal(readFileSync(`${elsewhere}/large.txt`, 'utf8').length, 300_000);
    assert.deepEqual(readdirSync(elsewhere), ['a.txt', 'b.txt', 'large.txt']);
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});

test('folders that are links, are missing or are the same are refused', async () => {
  using workspace = prepare('from/a.txt');
  symlinkSync(workspace.outside, workspace.at('out'));
  await assert.rejects(workspace.call(filesMoveGlob, { ...args, to: 'out' }), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.call(filesMoveGlob, { ...args, from: 'out' }), endsWith('UNSAFE_PATH'));
  await assert.rejects(
    workspace.call(filesMoveGlob, { ...args, to: 'missing' }),
    endsWith('NOT_FOUND', /^missing does/),
  );
  await assert.rejects(workspace.call(filesMoveGlob, { ...args, to: './from/' }), endsWith('INVALID_ARGUMENTS'));
  assert.deepEqual(workspace.outsideNames(), ['secret.txt']);
});

test('a file with a second name stays where it is', async () => {
  requirement('EXEC-7');
  using workspace = prepare('from/a.txt');
  linkSync(`${workspace.outside}/secret.txt`, workspace.at('from/b.txt'));
  const { moved, failed } = await workspace.call(filesMoveGlob, args);
  assert.deepEqual(moved, ['a.txt']);
  assert.equal((failed as readonly JsonObject[])[0]?.['code'], 'UNSAFE_PATH');
});

test('the preview lists every move and what becomes of taken names, one line each', async () => {
  using workspace = prepare('from/a.txt', 'from/b\nc.txt', 'to/a.txt');
  const effect = await workspace.preview(filesMoveGlob, args);
  assert.equal(effect.detail, 'from/a.txt -> to/a.txt (stays: name taken)\nfrom/b\\nc.txt -> to/b\\nc.txt\n');
  assert.match((await workspace.preview(filesMoveGlob, { ...args, overwrite: true })).detail, /a\.txt \(replaces it\)/);
  assert.deepEqual(readdirSync(workspace.at('from')).length, 2);
});

test('the name of a file passes for no note about it, and for no other move', async () => {
  using workspace = prepare('from/a.txt (stays: name taken)', 'from/b -> c', 'to/.keep');
  const { detail } = await workspace.preview(filesMoveGlob, { ...args, patterns: ['*'] });
  assert.deepEqual(detail.trimEnd().split('\n'), [
    '"from/a.txt (stays: name taken)" -> "to/a.txt (stays: name taken)"',
    '"from/b -> c" -> "to/b -> c"',
  ]);
});
