import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { decodeLeaf } from '../../packages/log/src/leaf.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';
import { openSqliteStore } from '../../packages/gateway/src/storage/sqlite/sqlite-store.ts';
import type { WriterOptions } from '../../packages/gateway/src/storage/sqlite/writer.ts';
import type { NewSession, Store } from '../../packages/gateway/src/storage/stores.ts';
import { howMuch } from '../harness/how-much.ts';
import { requirement } from '../requirement.ts';
import { admissionFor, eventNamed, outcomeFor, sessionNamed } from './entries.ts';
import { limits, makeCall } from './make-calls.ts';
import { storeOptionsIn } from './store-options.ts';

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-writer-'));
  folders.push(folder);
  return folder;
}

function closing(store: Store): Store & AsyncDisposable {
  return { ...store, [Symbol.asyncDispose]: () => store.close() };
}

const reopen = async (options: WriterOptions): Promise<Store & AsyncDisposable> =>
  closing(await openSqliteStore({ ...options, adoptState: false }));

/** The files as a kill at this moment would leave them. */
function copyKilled(options: WriterOptions): WriterOptions {
  const copied = { ...options, ...storePlaces(newFolder()) };
  copyFileSync(options.databaseFile, copied.databaseFile);
  copyFileSync(`${options.databaseFile}-wal`, `${copied.databaseFile}-wal`);
  return copied;
}

function storePlaces(folder: string): Pick<WriterOptions, 'databaseFile' | 'checkpointFile' | 'reserveFile'> {
  const { databaseFile, checkpointFile, reserveFile } = storeOptionsIn(folder);
  return { databaseFile, checkpointFile, reserveFile };
}

/** What the log says about the calls of a session. */
async function readCalls(store: Store, { id }: NewSession): Promise<{ intents: Set<string>; outcomes: Set<string> }> {
  const [intents, outcomes] = [new Set<string>(), new Set<string>()];
  for (const { leaf } of await store.readRecords(0, 1_000_000)) {
    const { kind, callId = '', sessionId } = decodeLeaf(leaf);
    if (sessionId === id && kind === 'intent') intents.add(callId);
    if (sessionId === id && kind === 'outcome') outcomes.add(callId);
  }
  return { intents, outcomes };
}

/** Counts, spending and open intents are exactly those of the records, neither more nor less. */
async function assertAgrees(
  store: Store,
  session: NewSession,
): Promise<{ intents: Set<string>; outcomes: Set<string> }> {
  const calls = await readCalls(store, session);
  const { intents, outcomes } = calls;
  const found = await store.readSession(session.id);
  const spent = {
    calls: intents.size,
    activeMs: 3 * outcomes.size,
    tokens: 2 * outcomes.size,
    costMicros: outcomes.size,
  };
  assert.deepEqual(found?.spent, spent, 'the session');
  assert.deepEqual(found?.lease.spent, spent, 'its lease');
  for (const limit of limits) assert.equal((await store.usedOf(limit, Date.now())).used, intents.size, 'the limits');
  assert.equal((await store.listToolUses(session.id)).length, Math.min(1, intents.size), 'the uses');
  const open = (await store.listOpenIntents()).map(({ callId }) => callId);
  assert.deepEqual(new Set(open), intents.difference(outcomes), 'the open intents');
  return calls;
}

test(`killed under load, counts, spending and open intents are exactly those of the log`, async () => {
  requirement('RATE-2');
  const options = storeOptionsIn(newFolder());
  const session = sessionNamed();
  const store = await openSqliteStore(options);
  await store.createSession(session);
  await store.close();
  const job = join(newFolder(), 'job.json');
  writeFileSync(job, JSON.stringify({ options, session }));
  for (let round = 0; round < howMuch({ usually: 3, long: 60 }); round++) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'make-calls.ts'), job], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (data: Buffer) => (said += data.toString()));
    await once(child.stdout, 'data');
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
    child.kill('SIGKILL');
    await once(child, 'close');
    await using found = await reopen(options);
    const { outcomes } = await assertAgrees(found, session);
    for (const [, callId = ''] of said.matchAll(/^settled (.+)$/gm)) assert.ok(outcomes.has(callId), 'it was answered');
    for (const { callId } of await found.listOpenIntents()) {
      const admission = admissionFor(session);
      const outcome = outcomeFor({ ...admission, intent: { ...admission.intent, callId } }, 'unknown');
      const charge = { sessionId: session.id, leaseId: session.lease.id, activeMs: 3, tokens: 2, costMicros: 1 };
      await found.settle({ outcome, charge });
    }
    assert.deepEqual(await found.listOpenIntents(), []);
  }
});

test('a kill between two commits loses nothing, whatever the tables had by then', async () => {
  const options = storeOptionsIn(newFolder());
  const session = sessionNamed();
  await using store = closing(await openSqliteStore(options));
  await store.createSession(session);
  const cutOff = { ...admissionFor(session), reservations: limits };
  for (let round = 0; round < 5; round++) {
    await Promise.all([makeCall(store, session), makeCall(store, session)]);
    if (round === 2) assert.ok((await store.admit(cutOff)).admitted);
    await using killed = await reopen(copyKilled(options));
    const { intents } = await assertAgrees(killed, session);
    assert.equal(intents.size, 2 * (round + 1) + Number(round >= 2));
    const open = await killed.listOpenIntents();
    assert.deepEqual(
      open.map(({ callId, sessionId }) => [callId, sessionId]),
      round < 2 ? [] : [[cutOff.intent.callId, session.id]],
    );
  }
});

/** Right after a commit whose counts are not in the tables yet. They come there with every checkpoint. */
async function copyKilledBehind(options: WriterOptions, store: Store, session: NewSession): Promise<WriterOptions> {
  for (;;) {
    assert.ok((await store.admit({ ...admissionFor(session), reservations: limits })).admitted);
    const killed = copyKilled(options);
    using database = new DatabaseSync(killed.databaseFile);
    if (database.prepare('SELECT tallies FROM state').get()?.['tallies'] !== '') return killed;
  }
}

for (const [what, change] of [
  ['counts that are not in the tables yet', `UPDATE state SET tallies = replace(tallies, ']]', '0]]')`],
  ['counts that are not in the tables yet, removed', `UPDATE state SET tallies = ''`],
  ['where the first open intent is', `UPDATE state SET open_from = open_from + 1`],
  ['the place in the log', `UPDATE state SET position = position + 1`],
  ['the tag', `UPDATE state SET tag = zeroblob(32)`],
] as const) {
  test(`after a kill, a change to ${what} keeps the store from opening`, async () => {
    const options = storeOptionsIn(newFolder());
    const session = sessionNamed();
    await using store = closing(await openSqliteStore(options));
    await store.createSession(session);
    const killed = await copyKilledBehind(options, store, session);
    const database = new DatabaseSync(killed.databaseFile);
    database.exec(change);
    database.close();
    await assert.rejects(reopen(killed), /changed by something other than Sallyport/);
  });
}

test('of operations that share a message, only the one that cannot be written fails', async () => {
  const options = storeOptionsIn(newFolder());
  const session = sessionNamed();
  await using store = closing(await openSqliteStore(options));
  await store.createSession(session);
  const admissions = Array.from({ length: 40 }, () => ({ ...admissionFor(session), reservations: limits }));
  const bad = { ...eventNamed('too long'), payload: ownText('x'.repeat(70_000)) };
  const unknown = { ...admissionFor(session), reservations: limits };
  const results = await Promise.allSettled([
    ...admissions.slice(0, 20).map((admission) => store.admit(admission)),
    store.append(bad),
    ...admissions.slice(20).map((admission) => store.admit(admission)),
    store.settle({ outcome: outcomeFor(unknown) }),
    store.admit(admissions[0] ?? unknown),
    store.append(eventNamed('last')),
  ]);
  const failed = results.flatMap((result, at) => (result.status === 'rejected' ? [[at, String(result.reason)]] : []));
  assert.deepEqual(
    failed.map(([at]) => at),
    [20, 41, 42],
  );
  assert.match(String(failed[0]?.[1]), /64 KB/);
  assert.match(String(failed[1]?.[1]), /no open intent/);
  assert.match(String(failed[2]?.[1]), /open intent already/);
  assert.equal(store.sealed(), undefined);
  const { intents } = await assertAgrees(store, session);
  assert.equal(intents.size, 40, 'a call that fails is not counted, and its neighbours are');
});

test('ten thousand operations of one moment are all written, in their order', async () => {
  const options = storeOptionsIn(newFolder());
  const session = sessionNamed();
  await using store = closing(await openSqliteStore(options));
  await store.createSession(session);
  const before = await store.logSize();
  const admissions = Array.from({ length: 10_000 }, () => ({ ...admissionFor(session), reservations: limits }));
  const admitted = await Promise.all(admissions.map((admission) => store.admit(admission)));
  assert.deepEqual(
    admitted.map((each) => each.admitted && each.intentIndex),
    admissions.map((_, at) => before + at),
  );
  await assertAgrees(store, session);
});

test('many sessions at once are counted apart, also after a kill', async () => {
  const options = storeOptionsIn(newFolder());
  const sessions = Array.from({ length: 60 }, () => sessionNamed());
  await using store = closing(await openSqliteStore(options));
  await Promise.all(sessions.map((session) => store.createSession(session)));
  const calls = sessions.flatMap((session, at) => Array.from({ length: 1 + (at % 3) }, () => session));
  await Promise.all(calls.map((session) => makeCall(store, session)));
  await using killed = await reopen(copyKilled(options));
  for (const [at, session] of sessions.entries())
    assert.equal((await killed.readSession(session.id))?.spent.calls, 1 + (at % 3));
  assert.equal((await killed.usedOf(limits[0] ?? assert.fail(), Date.now())).used, calls.length);
});

test('on a full disk every call is either on record and counted, or neither', async () => {
  requirement('AUD-2');
  const folder = newFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=0700', 'tmpfs', folder]);
  try {
    const home = join(folder, 'home');
    mkdirSync(home);
    const options = storeOptionsIn(home);
    const session = sessionNamed();
    const settled = new Set<string>();
    {
      await using store = closing(await openSqliteStore(options));
      await store.createSession(session);
      const filler = join(folder, 'filler');
      const lane = async (): Promise<void> => {
        while (store.sealed() === undefined) {
          try {
            settled.add(await makeCall(store, session));
          } catch (error) {
            assert.match(String(error), /full/);
          }
        }
      };
      writeFileSync(filler, Buffer.alloc(1024 * 1024, 1));
      await Promise.all(Array.from({ length: 16 }, lane));
      assert.match(store.sealed() ?? '', /disk is full/);
      rmSync(filler);
      while (store.sealed() !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
      settled.add(await makeCall(store, session));
      const { outcomes } = await assertAgrees(store, session);
      for (const callId of settled) assert.ok(outcomes.has(callId), 'it was answered');
    }
    await using again = await reopen(options);
    await assertAgrees(again, session);
  } finally {
    execFileSync('umount', ['-l', folder]);
  }
});

test('a database of schema version 6, left by a kill, opens with its open intent and its spending', async () => {
  const file = join(import.meta.dirname, 'database-of-schema-6.json');
  const { sessionId, databaseGzip, ...keys } = JSON.parse(readFileSync(file, 'utf8')) as Record<
    'signingKey' | 'origin' | 'stateKey' | 'sessionId',
    string
  > & { readonly databaseGzip: readonly string[] };
  const options = { ...storeOptionsIn(newFolder()), ...keys };
  writeFileSync(options.databaseFile, gunzipSync(Buffer.from(databaseGzip.join(''), 'base64')));
  {
    await using store = await reopen(options);
    const spent = { calls: 3, activeMs: 6, tokens: 4, costMicros: 2 };
    assert.deepEqual((await store.readSession(sessionId))?.spent, spent);
    const [open, ...more] = await store.listOpenIntents();
    assert.ok(open?.sessionId === sessionId && more.length === 0);
    const outcome = { ...eventNamed('cut off'), kind: 'outcome', result: 'unknown', callId: open.callId } as const;
    await store.settle({ outcome });
  }
  await using again = await reopen(options);
  assert.deepEqual(await again.listOpenIntents(), []);
});
