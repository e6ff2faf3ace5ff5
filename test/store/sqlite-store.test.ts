import assert from 'node:assert/strict';
import { createHash, randomUUIDv7 } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { Database } from '../../packages/gateway/src/storage/sqlite/database.ts';
import { judgeState } from '../../packages/gateway/src/storage/sqlite/state/judge-state.ts';
import { openSqliteStore } from '../../packages/gateway/src/storage/sqlite/sqlite-store.ts';
import type { Store } from '../../packages/gateway/src/storage/stores.ts';
import { requirement } from '../requirement.ts';
import { taskOf } from './approval-conformance.ts';
import { describeStore } from './conformance.ts';
import { sessionNamed } from './entries.ts';
import { storeOptionsIn } from './store-options.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';

/** Closes the store at the end of the test, however it ends: an open one keeps the process alive. */
function closing(store: Store): Store & AsyncDisposable {
  return { ...store, [Symbol.asyncDispose]: () => store.close() };
}

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-store-'));
  folders.push(folder);
  return folder;
}

const event = (name: string) => ({
  kind: 'event' as const,
  result: 'none' as const,
  timeMs: Date.now(),
  payload: ownText(`{"event":"${name}"}`),
});

describeStore('the SQLite store', async () => {
  const folder = newFolder();
  const options = storeOptionsIn(folder);
  return {
    open: () => openSqliteStore(options),
    remove: async () => rmSync(folder, { recursive: true }),
  };
});

/** Leaves rows of one session among those of others, and erases it. Returns which files still have something of it. */
async function eraseSession(store: Store, databaseFile: string): Promise<() => string[]> {
  const session = sessionNamed();
  await store.createSession(session);
  const indexes: number[] = [];
  for (let round = 0; round < 300; round += 1) {
    // Rows of other lengths between them, so that rows move from page to page.
    const text = `${round % 3 === 0 ? 'log-ERASE-ME-log' : 'stays'}${'x'.repeat(round * 7)}`;
    const { index } = await store.append({ ...event('e'), payload: ownText(JSON.stringify({ text })) });
    if (round % 3 === 0) indexes.push(index);
    const owner = round % 3 === 0 ? session : sessionNamed();
    await store.openApproval(taskOf(owner, { effect: text }));
  }
  const found = () =>
    ['', '-wal'].filter((end) => {
      const file = `${databaseFile}${end}`;
      return existsSync(file) && readFileSync(file).includes('ERASE-ME');
    });
  assert.ok(found().length > 0);
  const erasure = { id: randomUUIDv7(), subject: { kind: 'session', id: session.id }, reason: ownText('') } as const;
  await store.requestErasure({ ...erasure, requestedAtMs: 0, dueAtMs: 0 });
  await store.startErasure(erasure.id, 0);
  await store.erasePayloads(erasure.id, { indexes, nextIndex: 0, atMs: 0 });
  const untilMs = Date.now() + 1000;
  await store.eraseRows({ callIds: [], decisionIds: [], sessionIds: [session.id], untilMs });
  assert.equal((await store.readRecords(indexes[1] ?? 0, 1))[0]?.payload, undefined);
  return found;
}

test('nothing of what was erased is left in the files', async () => {
  const options = storeOptionsIn(newFolder());
  await using store = closing(await openSqliteStore(options));
  const found = await eraseSession(store, options.databaseFile);
  assert.equal(await store.compact({ isRoutine: false }), true);
  assert.deepEqual(found(), []);
  assert.equal((await store.append(event('after'))).index > 0, true);
  assert.equal(store.sealed(), undefined);
});

test('nothing of what was erased is left in the files of a large database once it is closed', async () => {
  const options = storeOptionsIn(newFolder());
  const store = await openSqliteStore(options);
  const found = await eraseSession(store, options.databaseFile);
  const long = ownText(JSON.stringify({ text: 'y'.repeat(60_000) }));
  for (let round = 0; round < 160; round += 1) await store.append({ ...event('e'), payload: long });
  assert.equal(await store.compact({ isRoutine: true }), false, 'calls would have to wait');
  await store.close();
  assert.deepEqual(found(), []);
  const database = new DatabaseSync(options.databaseFile);
  assert.deepEqual(Object.values(database.prepare('PRAGMA integrity_check').get() ?? {}), ['ok']);
  database.close();
  // It was done, and the log and the state are as they were.
  await using again = closing(await openSqliteStore(options));
  assert.equal((await again.append(event('after'))).index > 0, true);
  assert.equal(again.sealed(), undefined);
});

test('a database of a newer program is refused with what to do, and is not touched', async () => {
  const folder = newFolder();
  const options = storeOptionsIn(folder);
  await (await openSqliteStore(options)).close();
  const database = new DatabaseSync(options.databaseFile);
  database.exec('PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const digest = () => createHash('sha256').update(readFileSync(options.databaseFile)).digest('hex');
  const before = digest();
  await assert.rejects(openSqliteStore(options), (error: Error & { remedy?: string }) => {
    assert.match(error.message, /schema version 999/);
    assert.match(error.remedy ?? '', /newer version/);
    return true;
  });
  assert.equal(digest(), before);
  rmSync(folder, { recursive: true });
});

for (const [how, statement, expected] of [
  [
    'a record appended by hand',
    `INSERT INTO records SELECT position + 1, leaf, salt, payload, tag FROM records ORDER BY position DESC LIMIT 1`,
    /not written by this gate/,
  ],
  [
    'a log cut short together with its checkpoints',
    `DELETE FROM records WHERE position >= 2; DELETE FROM checkpoints`,
    /was signed, but the database has none/,
  ],
  ['a log cut short below its checkpoint', `DELETE FROM records WHERE position >= 2`, /ends at 2/],
] as const) {
  test(`${how} keeps the store from opening`, async () => {
    requirement('AUD-3');
    const folder = newFolder();
    const options = storeOptionsIn(folder);
    const store = await openSqliteStore(options);
    for (const name of ['a', 'b', 'c', 'd']) await store.append(event(name));
    await store.close();
    const database = new DatabaseSync(options.databaseFile);
    database.exec(statement);
    database.close();
    await assert.rejects(openSqliteStore(options), (error: Error & { remedy?: string }) => {
      assert.match(error.message, expected);
      assert.match(error.remedy ?? '', /audit verify/);
      return true;
    });
    rmSync(folder, { recursive: true });
  });
}

test('a store that cannot write seals itself, says why, and keeps reading', async () => {
  requirement('AUD-2');
  const folder = newFolder();
  const options = storeOptionsIn(folder);
  await using store = closing(await openSqliteStore(options));
  const { index } = await store.append(event('before'));
  const reasons: string[] = [];
  store.onSealed((reason) => reasons.push(reason));
  // Another connection takes the records away from under the writer: every later insert fails.
  const other = new DatabaseSync(options.databaseFile, { timeout: 10_000 });
  other.exec('DROP TABLE records; CREATE VIEW records AS SELECT 1 AS position');
  other.close();
  await assert.rejects(store.append(event('lost')), { code: 'SEALED' });
  assert.equal(reasons.length, 1);
  assert.ok(store.sealed());
  await assert.rejects(store.append(event('later')), { code: 'SEALED' });
  assert.equal(store.readMode(), 'NORMAL');
  assert.ok(index >= 0);
});

test('the state is what the gate wrote after each change of an anomaly', async () => {
  const folder = newFolder();
  const options = storeOptionsIn(folder);
  await using store = closing(await openSqliteStore(options));
  const reader = Database.openForReading(options.databaseFile);
  const judge = (): readonly string[] => judgeState(reader, options.stateKey);
  const id = randomUUIDv7();
  await store.openAnomaly({
    ...{ id, kind: 'call_spike', detail: '', agent: 'ada', sessionId: '', beganAtMs: 1, senior: '' },
    ...{ summary: ownText('Too many calls.'), calls: [] },
  });
  assert.deepEqual(judge(), []);
  await store.noteResponse(id, 'raise_mode');
  assert.deepEqual(judge(), []);
  await store.continueAnomalies([{ id, lastAtMs: 2, sightings: 2 }]);
  await store.acknowledgeAnomaly(id, 'olga', 3);
  await store.noteAnomalyTold(id, 4);
  assert.deepEqual(judge(), []);
  reader.close();
});
