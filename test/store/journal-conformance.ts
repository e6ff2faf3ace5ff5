import assert from 'node:assert/strict';
import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import type { Change } from '../../packages/gateway/src/call/journal.ts';
import type { NewJournalEntries, Store } from '../../packages/gateway/src/storage/stores.ts';

const made: Change = { path: '/w/new', before: { kind: 'absent' }, after: { kind: 'folder', mode: 0o755 } };
const moved: Change = {
  path: '/w/a',
  before: { kind: 'file', sha256: 'aa', sizeBytes: 1, mode: 0o644, mtimeUs: 1_700_000_000_000_001, atimeUs: 3 },
  after: { kind: 'absent' },
  movedTo: '/w/b',
};
const deleted: Change = {
  path: '/w/ä\u{1f600}',
  before: { kind: 'link', target: '../x' },
  after: { kind: 'absent' },
  kept: `${randomUUID()}-1`,
};

function callOf(changes: readonly Change[], more: Partial<NewJournalEntries> = {}): NewJournalEntries {
  const traceId = randomUUID().replaceAll('-', '');
  const call = { callId: randomUUIDv7(), sessionId: randomUUID(), traceId, tool: 'files.write', agent: 'ada' };
  return { ...call, atMs: Date.now(), changes, ...more };
}

/** What every store must do with the journal of undo. */
export function testJournal(open: () => Store, reopen: () => Promise<void>): void {
  test('what calls were about to change is found by call, step, run, session and path, in its order, after a restart', async () => {
    const first = callOf([made, moved, deleted]);
    const { callId, traceId, sessionId } = first;
    const step = callOf([made], { traceId, sessionId, parentCallId: callId });
    await open().writeJournal(first);
    await open().writeJournal(step);
    await reopen();
    const paths = async (filter: Parameters<Store['readJournal']>[0], limit = 100) =>
      (await open().readJournal(filter, limit)).map(({ path }) => path);
    const all = [made.path, moved.path, deleted.path, made.path];
    for (const filter of [{ callId }, { traceId }, { sessionId }]) assert.deepEqual(await paths(filter), all);
    assert.deepEqual(await paths({ callId: step.callId }), [made.path]);
    assert.deepEqual(await paths({ path: deleted.path }), [deleted.path]);
    assert.deepEqual(await paths({ callId }, 2), all.slice(-2), 'of many, the newest');
    assert.deepEqual(await paths({ callId: randomUUIDv7() }), []);
    assert.deepEqual((await paths({}, 4)).length, 4);
    const [one, two, three, four] = await open().readJournal({ callId }, 10);
    const { changes: _changes, ...call } = first;
    assert.deepEqual(two, { ...moved, ...call, position: two?.position });
    assert.deepEqual(three, { ...deleted, ...call, position: three?.position });
    assert.equal(four?.parentCallId, callId);
    assert.ok((one?.position ?? 0) < (two?.position ?? 0));
    assert.ok((await open().listKept()).has(deleted.kept ?? ''));
  });

  test('a state that was not known when it was written down can be added, once', async () => {
    const call = callOf([{ ...made, after: { kind: 'unknown' } }]);
    await open().writeJournal(call);
    assert.equal(await open().completeJournal(call.callId, '/w/other', made.after), false);
    assert.equal(await open().completeJournal(call.callId, made.path, made.after), true);
    assert.equal(await open().completeJournal(call.callId, made.path, { kind: 'absent' }), false);
    assert.deepEqual((await open().readJournal({ callId: call.callId }, 1))[0]?.after, made.after);
  });

  test('what is older than a moment is forgotten, and nothing else', async () => {
    const atMs = 1000;
    const old = callOf([{ ...deleted, kept: 'old' }], { atMs });
    const newer = callOf([{ ...deleted, kept: 'newer' }], { atMs: atMs + 1 });
    await open().writeJournal(old);
    await open().writeJournal(newer);
    assert.equal(await open().dropJournal(atMs + 1), 1);
    assert.deepEqual(await open().readJournal({ callId: old.callId }, 1), []);
    assert.equal((await open().readJournal({ callId: newer.callId }, 1)).length, 1);
    const kept = await open().listKept();
    assert.deepEqual([kept.has('old'), kept.has('newer')], [false, true]);
  });
}
