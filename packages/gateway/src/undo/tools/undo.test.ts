import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import type { AnyTool } from '../../call/tool.ts';
import { filesDelete } from '../../catalogue/files/files-delete.ts';
import { filesEdit } from '../../catalogue/files/files-edit.ts';
import { filesEnsureDir } from '../../catalogue/files/files-ensure-dir.ts';
import { filesMoveGlob } from '../../catalogue/files/files-move-glob.ts';
import { filesWrite } from '../../catalogue/files/files-write.ts';
import { endsWith } from '../../catalogue/files/test-workspace.ts';
import { UndoBench } from './undo-bench.test-kit.ts';

function prepare(): UndoBench {
  const bench = new UndoBench();
  bench.put('notes.md', 'one\ntwo\n');
  bench.put('run.sh', '#!/bin/sh\n');
  chmodSync(bench.workspace.at('run.sh'), 0o750);
  bench.put('inbox/a.txt', 'a');
  bench.put('inbox/b.txt', 'b');
  bench.put('done/a.txt', 'earlier a');
  bench.put('tree/deep/c.txt', 'c');
  mkdirSync(bench.workspace.at('tree/empty'));
  mkdirSync(bench.workspace.at('hollow'));
  symlinkSync('notes.md', bench.workspace.at('link'));
  symlinkSync('../notes.md', bench.workspace.at('tree/link'));
  return bench;
}

const mutations: readonly (readonly [AnyTool, JsonObject])[] = [
  [filesWrite, { path: 'new.txt', content: 'new' }],
  [filesWrite, { path: 'x/y/new.txt', content: 'new', create_parents: true }],
  [filesWrite, { path: 'notes.md', content: 'three\n' }],
  [filesWrite, { path: 'notes.md', content: 'one\ntwo\n' }],
  [filesWrite, { path: 'notes.md', content: 'three\n', append: true }],
  [filesEdit, { path: 'run.sh', old_content: '/bin/sh', new_content: '/bin/bash' }],
  [filesEnsureDir, { path: 'x/y/z' }],
  [filesDelete, { path: 'run.sh' }],
  [filesDelete, { path: 'link' }],
  [filesDelete, { path: 'hollow' }],
  [filesDelete, { path: 'tree', recursive: true }],
  [filesMoveGlob, { from: 'inbox', to: 'done', patterns: ['b.*'] }],
  [filesMoveGlob, { from: 'inbox', to: 'done', patterns: ['*'], overwrite: true }],
];

for (const [tool, args] of mutations) {
  const name = `${tool.definition.name} ${JSON.stringify(args)}`;

  test(`undo restores bytes, mode and times after ${name}; undoing the undo does it again`, async () => {
    using bench = prepare();
    const start = bench.snapshot();
    const call = await bench.call(tool, args);
    const changed = bench.snapshot();
    assert.notDeepEqual(changed, start);
    const undo = await bench.undo(call);
    assert.deepEqual(bench.snapshot(), start);
    const redo = await bench.undo(undo);
    assert.deepEqual(bench.snapshot(), changed);
    await bench.undo(redo);
    assert.deepEqual(bench.snapshot(), start);
  });

  test(`undo after ${name} leaves what something else changed since, and says so`, async () => {
    using bench = prepare();
    const call = await bench.call(tool, args);
    const { path = '' } = bench.entries.findLast(({ callId }) => callId === call) ?? {};
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, 'by somebody else', { flush: true });
    const before = bench.snapshot();
    await assert.rejects(
      bench.undo(call),
      endsWith('FILE_CHANGED', /changed by something else since.*nothing was undone/),
    );
    assert.deepEqual(bench.snapshot(), before);
  });

  test(`a second undo after ${name} changes nothing`, async () => {
    using bench = prepare();
    const call = await bench.call(tool, args);
    await bench.undo(call);
    const entries = bench.entries.length;
    const restored = bench.snapshot();
    await bench.undo(call);
    assert.deepEqual(bench.snapshot(), restored);
    assert.equal(bench.entries.length, entries);
  });
}

test('a file that has got a second name since is told before anything is promised, and nothing is undone', async () => {
  using bench = prepare();
  const linked = await bench.call(filesWrite, { path: 'notes.md', content: 'first' });
  const { path = '' } = bench.entries.findLast(({ callId }) => callId === linked) ?? {};
  linkSync(path, `${path}.second`);
  const before = bench.snapshot();
  await assert.rejects(bench.undo(linked), endsWith('FILE_CHANGED', /second name since.*nothing was undone/));
  assert.deepEqual(bench.snapshot(), before);
  rmSync(`${path}.second`);
  await bench.undo(linked);
});

test('a run of calls on the same files is undone, the newest first', async () => {
  using bench = prepare();
  const start = bench.snapshot();
  await bench.call(filesWrite, { path: 'notes.md', content: 'first' });
  await bench.call(filesWrite, { path: 'notes.md', content: 'second' });
  await bench.call(filesWrite, { path: 'tree/deep/c.txt', content: 'changed' });
  await bench.call(filesWrite, { path: 'tree/deep/d/e.txt', content: 'new', create_parents: true });
  await bench.call(filesDelete, { path: 'tree', recursive: true });
  await bench.call(filesWrite, { path: 'tree', content: 'a file now' });
  await bench.call(filesMoveGlob, { from: 'inbox', to: 'done', patterns: ['*'], overwrite: true });
  await bench.call(filesDelete, { path: 'done', recursive: true });
  const changed = bench.snapshot();
  const undo = await bench.call(bench.undoTool, { trace_id: bench.traceId });
  assert.deepEqual(bench.snapshot(), start);
  await bench.undo(undo);
  assert.deepEqual(bench.snapshot(), changed);
});

test('one call of a run cannot be undone under a later one', async () => {
  using bench = prepare();
  const first = await bench.call(filesWrite, { path: 'notes.md', content: 'first' });
  await bench.call(filesWrite, { path: 'notes.md', content: 'second' });
  await assert.rejects(bench.undo(first), endsWith('FILE_CHANGED'));
  assert.equal(bench.workspace.text('notes.md'), 'second');
});

test('one changed file keeps all of an undo from happening', async () => {
  using bench = prepare();
  const call = await bench.call(filesMoveGlob, { from: 'inbox', to: 'done', patterns: ['*'], overwrite: true });
  bench.workspace.put('done/b.txt', 'by somebody else');
  const before = bench.snapshot();
  await assert.rejects(bench.undo(call), endsWith('FILE_CHANGED'));
  assert.deepEqual(bench.snapshot(), before);
});

test('a change of the mode since is a change', async () => {
  using bench = prepare();
  const call = await bench.call(filesWrite, { path: 'notes.md', content: 'new' });
  chmodSync(bench.workspace.at('notes.md'), 0o755);
  await assert.rejects(bench.undo(call), endsWith('FILE_CHANGED'));
});

test('a folder that the call made stays when something else was put into it', async () => {
  using bench = prepare();
  const call = await bench.call(filesEnsureDir, { path: 'x/y' });
  bench.workspace.put('x/y/mine.txt', 'mine');
  await assert.rejects(bench.undo(call), endsWith('FILE_CHANGED'));
  assert.equal(bench.workspace.text('x/y/mine.txt'), 'mine');
});

test('what may not be written now is not undone', async () => {
  using bench = prepare();
  const call = await bench.call(filesWrite, { path: 'notes.md', content: 'new' });
  const denied = { judge: () => refuse('RULE_DENIES', 'no-writing', 'Nothing is written now.') };
  await assert.rejects(bench.undo(call, { writing: denied }), endsWith('RULE_DENIES'));
  await assert.rejects(bench.undo(call, { paths: denied }), endsWith('RULE_DENIES'));
  assert.equal(bench.workspace.text('notes.md'), 'new');
});

test('a session undoes its own calls only, and does not learn which others there are', async () => {
  using bench = prepare();
  const call = await bench.call(filesWrite, { path: 'notes.md', content: 'new' });
  const session = { ...bench.workspace.session, id: 'another' };
  const ofOther = bench.undo(call, { session });
  await assert.rejects(ofOther, endsWith('INVALID_ARGUMENTS', /no change of files by such a call of this session/));
  await assert.rejects(bench.undo('no such call'), endsWith('INVALID_ARGUMENTS', /no change of files by such a call/));
  assert.deepEqual((await bench.undoTool.lookUpClaim?.({ call_id: call }, bench.workspace.session))?.paths, [
    { path: bench.workspace.at('notes.md'), access: 'write' },
  ]);
  await assert.rejects(bench.undoTool.lookUpClaim?.({ call_id: call }, session) ?? Promise.resolve());
});

test('a link that took the place of a folder leads no undo out of the workspace', async () => {
  using bench = prepare();
  const { workspace } = bench;
  const call = await bench.call(filesWrite, { path: 'inbox/a.txt', content: 'new' });
  writeFileSync(join(workspace.outside, 'a.txt'), 'new');
  chmodSync(join(workspace.outside, 'a.txt'), lstatSync(workspace.at('inbox/a.txt')).mode & 0o777);
  rmSync(workspace.at('inbox'), { recursive: true });
  symlinkSync(workspace.outside, workspace.at('inbox'));
  await assert.rejects(bench.undo(call), endsWith('UNSAFE_PATH'));
  assert.deepEqual(workspace.outsideNames().toSorted(), ['a.txt', 'secret.txt']);
});

test('kept bytes that were changed are not put back, and missing ones are said to be missing', async () => {
  using bench = prepare();
  const call = await bench.call(filesWrite, { path: 'notes.md', content: 'new' });
  const kept = join(bench.workspace.context.trashFolder, bench.entries[0]?.kept ?? '');
  writeFileSync(kept, 'ONE\nTWO\n');
  await assert.rejects(bench.undo(call), endsWith('CONTENT_CORRUPTED'));
  rmSync(kept);
  await assert.rejects(bench.undo(call), endsWith('NOT_FOUND', /no longer kept/));
  assert.equal(bench.workspace.text('notes.md'), 'new');
  assert.deepEqual(
    readdirSync(bench.workspace.path).filter((name) => name.startsWith('.sallyport-')),
    [],
  );
});

test('the person who decides sees each line that an undo would change, and consent is to just that', async () => {
  using bench = prepare();
  const call = await bench.call(filesWrite, { path: 'notes.md', content: 'one\nthree\n' });
  const effect = await bench.workspace.preview(bench.undoTool, { call_id: call });
  assert.match(effect.summary, /^Undo 1 call: 1 path goes back/);
  assert.match(effect.detail, /^notes\.md: a file of 10 bytes, mode \d+ becomes a file of 8 bytes/);
  assert.match(effect.detail, /\n-three\n\+two\n/);
  const { basis } = effect;
  assert.ok(basis);
  await assert.rejects(bench.undo(call, { shownBasis: `${basis}0` }), endsWith('APPROVAL_MISMATCH'));
  await bench.undo(call, { shownBasis: basis });
  assert.equal(bench.workspace.text('notes.md'), 'one\ntwo\n');
});

test('an undo to and from a trash on another file system restores the same', async (t) => {
  if (!existsSync('/dev/shm')) return t.skip('there is no second file system');
  const trashFolder = join('/dev/shm', `sallyport-undo-${process.pid}`);
  t.after(() => rmSync(trashFolder, { recursive: true, force: true }));
  for (const [tool, args] of mutations) {
    using bench = new UndoBench({ trashFolder });
    bench.put('notes.md', 'one\ntwo\n');
    bench.put('run.sh', '#!/bin/sh\n');
    bench.put('inbox/a.txt', 'a');
    bench.put('inbox/b.txt', 'b');
    bench.put('done/a.txt', 'earlier a');
    bench.put('tree/deep/c.txt', 'c');
    symlinkSync('notes.md', bench.workspace.at('link'));
    mkdirSync(bench.workspace.at('hollow'));
    const start = bench.snapshot();
    const call = await bench.call(tool, args);
    const changed = bench.snapshot();
    const undo = await bench.undo(call);
    assert.deepEqual(bench.snapshot(), start);
    await bench.undo(undo);
    assert.deepEqual(bench.snapshot(), changed);
  }
});
