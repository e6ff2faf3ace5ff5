import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { filesDelete } from '../../../catalogue/files/files-delete.ts';
import { filesEdit } from '../../../catalogue/files/files-edit.ts';
import { filesWrite } from '../../../catalogue/files/files-write.ts';
import { endsWith } from '../../../catalogue/files/test-workspace.ts';
import { UndoBench } from '../undo-bench.test-kit.ts';
import { whyTool } from './why-tool.ts';

interface Explained {
  readonly state: string;
  readonly writer?: { readonly callId: string; readonly what: string; readonly approvedBy: string };
  readonly reason: string;
  readonly writers: readonly { readonly callId: string }[];
  readonly lines: readonly { first: number; last: number; callId: string; reason: string }[];
}

async function why(bench: UndoBench, name: string, line = 0, payload?: JsonObject): Promise<Explained> {
  const readRecordsOfCall = async () => (payload === undefined ? [] : [{ payload: JSON.stringify(payload) }]);
  const tool = whyTool({ journal: bench.journal, records: { readRecordsOfCall: readRecordsOfCall as never } });
  return (await bench.workspace.call(tool, { path: bench.workspace.at(name), line })) as unknown as Explained;
}

test('each line is the work of the call that brought it, however many calls came after', async () => {
  using bench = new UndoBench();
  bench.put('a.txt', 'zero\n');
  const first = await bench.call(filesWrite, { path: 'a.txt', content: 'zero\none\n' });
  const second = await bench.call(filesWrite, { path: 'a.txt', content: 'zero\none\ntwo\nthree\n' });
  const third = await bench.call(filesEdit, { path: 'a.txt', old_content: 'two', new_content: 'TWO' });
  const { state, writer, writers, lines } = await why(bench, 'a.txt', 0, {
    consent: { by: 'operator', how: 'approved', at_ms: 5 },
  });
  assert.deepEqual([state, writer?.callId, writer?.what, writer?.approvedBy], ['known', third, 'changed', 'operator']);
  assert.deepEqual(
    writers.map(({ callId }) => callId),
    [third, second, first],
  );
  assert.deepEqual(
    lines.map(({ first: from, last, callId }) => [from, last, callId]),
    [
      [1, 1, ''],
      [2, 2, first],
      [3, 3, third],
      [4, 4, second],
    ],
  );
  assert.match(lines[0]?.reason ?? '', /before the first call/);
  assert.equal((await why(bench, 'a.txt', 4)).writer?.callId, second);
  assert.match((await why(bench, 'a.txt', 1)).reason, /before the first call/);
  await assert.rejects(why(bench, 'a.txt', 9), endsWith('NOT_FOUND', /has 4 lines/));
});

test('what something other than a call wrote is nobody’s, and what a call wrote beside it stays its own', async () => {
  using bench = new UndoBench();
  const call = await bench.call(filesWrite, { path: 'a.txt', content: 'one\n' });
  writeFileSync(bench.workspace.at('a.txt'), 'one\noutside\n');
  const alone = await why(bench, 'a.txt');
  assert.deepEqual([alone.state, alone.writer], ['changed', undefined]);
  assert.match(alone.reason, new RegExp(`other than a call has changed the file since call ${call}`));
  // The call and the change after it cannot be told apart until another call has seen what the first one left.
  assert.ok(alone.lines.every(({ callId }) => callId === ''));
  const later = await bench.call(filesEdit, { path: 'a.txt', old_content: 'outside', new_content: 'outside too' });
  const { lines, writer } = await why(bench, 'a.txt');
  assert.equal(writer?.callId, later);
  assert.deepEqual(
    lines.map(({ callId }) => callId),
    ['', later],
  );
});

test('without the earlier bytes nobody is named for a line; the file as a whole is still known by its hash', async () => {
  using bench = new UndoBench();
  bench.put('a.txt', 'zero\n');
  const call = await bench.call(filesWrite, { path: 'a.txt', content: 'zero\none\n' });
  rmSync(join(bench.workspace.context.trashFolder, bench.entries[0]?.kept ?? ''));
  const { writer, lines } = await why(bench, 'a.txt');
  assert.equal(writer?.callId, call);
  assert.deepEqual(
    lines.map(({ callId, reason }) => [callId, /not kept/.test(reason)]),
    [['', true]],
  );
});

test('a file that is gone, binary, or was never written by a call is told as that', async () => {
  using bench = new UndoBench();
  bench.put('never.txt', 'x');
  assert.equal((await why(bench, 'never.txt')).state, 'untracked');
  await bench.call(filesWrite, { path: 'gone.txt', content: 'x' });
  const removed = await bench.call(filesDelete, { path: 'gone.txt' });
  const gone = await why(bench, 'gone.txt');
  assert.deepEqual([gone.state, gone.writer?.callId, gone.writer?.what], ['absent', removed, 'removed']);
  const binary = await bench.call(filesWrite, { path: 'binary', content: 'a\0b' });
  assert.equal((await why(bench, 'binary')).writer?.callId, binary);
  assert.match((await why(bench, 'binary', 1)).reason, /not text/);
  const again = await bench.call(filesWrite, { path: 'binary', content: 'text\n' });
  assert.equal((await why(bench, 'binary')).writer?.callId, again);
});
