import assert from 'node:assert/strict';
import { readdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { ToolFailure } from '../call/tool.ts';
import { ContentStore } from './content-store.ts';
import { hashBytes } from './content-hash.ts';
import { leftovers, never, noise, openStore, readAll } from './content.test-kit.ts';
import { blockBytes } from './read-blocks.ts';

/** Sends the first bytes and breaks off. */
async function* breakOff(bytes: Buffer, after: number): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, after);
  await Promise.resolve();
  throw new Error('the line is dead');
}

test('an upload that breaks off is continued where it stopped, whatever the place', async (context) => {
  const { store, folder } = await openStore(context);
  const bytes = noise(2 * blockBytes + 100);
  const hash = hashBytes(bytes);
  const upload = { sessionId: 'ada', hash, sizeBytes: bytes.length, signal: never };
  const places = fc.array(fc.oneof(fc.constantFrom(1, blockBytes, 2 * blockBytes), fc.nat({ max: bytes.length - 1 })), {
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(places, async (unsorted) => {
      let offset = 0;
      for (const stop of unsorted.sort((a, b) => a - b)) {
        const source = breakOff(bytes.subarray(offset), stop - offset);
        await assert.rejects(store.put({ ...upload, offset, source }), { code: 'CANCELLED' });
        assert.equal(await store.receivedBytes('ada', hash), stop);
        offset = stop;
      }
      await store.put({ ...upload, offset, source: [bytes.subarray(offset)] });
      assert.ok((await readAll(store, hash)).equals(bytes));
      assert.deepEqual(leftovers(folder), []);
    }),
    { numRuns: 15 },
  );
});

test('what came of an upload is told to its session only, and survives a restart', async (context) => {
  const { store, folder, index } = await openStore(context);
  const bytes = noise(100_000);
  const hash = hashBytes(bytes);
  const upload = { sessionId: 'ada', hash, signal: never };
  await assert.rejects(store.put({ ...upload, source: breakOff(bytes, 70_000) }), /70000 bytes of it are kept/);
  assert.equal(await store.receivedBytes('bob', hash), 0);
  assert.equal(await store.sizeOf(hash), undefined, 'nothing half is visible');

  const restarted = await ContentStore.open({ folder, index, keepFreeBytes: 0 });
  assert.equal(await restarted.receivedBytes('ada', hash), 70_000);
  await restarted.put({ ...upload, offset: 70_000, source: [bytes.subarray(70_000)] });
  assert.ok((await readAll(restarted, hash)).equals(bytes));
});

test('a start removes what was being written and what nobody continued for an hour', async (context) => {
  let nowMs = Date.now();
  const { store, folder, index } = await openStore(context, { nowMs: () => nowMs });
  const bytes = noise(1000);
  const hash = hashBytes(bytes);
  await assert.rejects(store.put({ sessionId: 'ada', hash, source: breakOff(bytes, 500), signal: never }));
  writeFileSync(join(folder, 'staging', 'cut-off'), 'half');
  await ContentStore.open({ folder, index });
  assert.deepEqual(
    leftovers(folder).map((name) => name.replace(/[0-9a-f]{16,}/g, '#')),
    ['partial/#-#'],
  );
  nowMs += 3_700_000;
  assert.equal(await store.receivedBytes('ada', hash), 0);
  await ContentStore.open({ folder, index, nowMs: () => nowMs });
  assert.deepEqual(leftovers(folder), []);
});

test('an upload goes on only where there is something before', async (context) => {
  const { store, folder } = await openStore(context);
  const bytes = noise(1000);
  const hash = hashBytes(bytes);
  const upload = { sessionId: 'ada', hash, signal: never };
  await assert.rejects(store.put({ ...upload, offset: 1, source: [] }), /cannot continue at 1: 0 bytes/);
  await assert.rejects(store.put({ ...upload, source: breakOff(bytes, 600) }));
  await assert.rejects(store.put({ ...upload, offset: 601, source: [] }), /cannot continue at 601: 600 bytes/);
  // Less than what is here is fine: the sender may begin again, or a little earlier.
  await store.put({ ...upload, offset: 100, source: [bytes.subarray(100)] });
  assert.ok((await readAll(store, hash)).equals(bytes));
  assert.deepEqual(leftovers(folder), []);
});

test('an earlier part that was damaged meanwhile does not become content', async (context) => {
  const { store, folder } = await openStore(context);
  const bytes = noise(blockBytes + 1000);
  const hash = hashBytes(bytes);
  const upload = { sessionId: 'ada', hash, signal: never };
  await assert.rejects(store.put({ ...upload, source: breakOff(bytes, 30_000) }));
  const [name = ''] = readdirSync(join(folder, 'partial'));
  writeFileSync(join(folder, 'partial', name), noise(30_000, 99));
  const rest = { offset: 30_000, source: [bytes.subarray(30_000)] };
  await assert.rejects(store.put({ ...upload, ...rest }), { code: 'CONTENT_MISMATCH' });
  assert.deepEqual(leftovers(folder), []);

  await assert.rejects(store.put({ ...upload, source: breakOff(bytes, blockBytes + 10) }));
  const path = join(folder, 'partial', readdirSync(join(folder, 'partial'))[0] ?? '');
  truncateSync(path, 5);
  await assert.rejects(store.put({ ...upload, offset: blockBytes, source: [] }), /5 bytes have arrived/);
});

test('without a declared hash an upload that breaks off leaves nothing', async (context) => {
  const { store, folder } = await openStore(context);
  const source = breakOff(noise(400_000), 30_0000);
  await assert.rejects(store.put({ sessionId: 'ada', source, signal: never }), { code: 'CANCELLED' });
  assert.deepEqual(leftovers(folder), []);
});

test('fewer bytes than declared are an upload that broke off', async (context) => {
  const { store } = await openStore(context);
  const bytes = noise(1000);
  const hash = hashBytes(bytes);
  const upload = { sessionId: 'ada', hash, sizeBytes: 1000, signal: never };
  await assert.rejects(store.put({ ...upload, source: [bytes.subarray(0, 400)] }), /ended after 400 of 1000 bytes/);
  assert.equal(await store.receivedBytes('ada', hash), 400);
});

test('a signal ends an upload whose sender is silent, with the reason of the signal', async (context) => {
  const { store, folder } = await openStore(context);
  const stop = new AbortController();
  const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
  const put = store.put({ sessionId: 'ada', source: silent, signal: stop.signal });
  setTimeout(() => stop.abort(new ToolFailure('TIMEOUT', 'The time is up.')), 5);
  await assert.rejects(put, { code: 'TIMEOUT', message: 'The time is up.' });
  assert.deepEqual(leftovers(folder), []);
  const late = store.put({ sessionId: 'ada', source: [noise(5)], signal: stop.signal });
  await assert.rejects(late, { code: 'TIMEOUT' });
});

test('a sender that falls silent is given up', async (context) => {
  const { store } = await openStore(context, { idleMs: 10 });
  const bytes = noise(50);
  const hash = hashBytes(bytes);
  const source = (async function* () {
    yield bytes.subarray(0, 20);
    await new Promise(() => undefined);
  })();
  await assert.rejects(store.put({ sessionId: 'ada', hash, source, signal: never }), { code: 'TIMEOUT' });
  assert.equal(await store.receivedBytes('ada', hash), 20);
});

test('a second upload of the same content beside the first one cannot disturb it', async (context) => {
  const { store } = await openStore(context);
  const bytes = noise(1000);
  const hash = hashBytes(bytes);
  const upload = { sessionId: 'ada', hash, signal: never };
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const first = store.put({
    ...upload,
    source: (async function* () {
      yield bytes.subarray(0, 500);
      started.resolve();
      await gate.promise;
      yield bytes.subarray(500);
    })(),
  });
  await started.promise;
  const resuming = store.put({ ...upload, offset: 300, source: [bytes.subarray(300)] });
  await assert.rejects(resuming, { code: 'TOO_MANY_CALLS' });
  await store.put({ ...upload, source: [bytes] });
  gate.resolve();
  await first;
  assert.ok((await readAll(store, hash)).equals(bytes));
});

test('a session keeps four unfinished uploads; the oldest gives way', async (context) => {
  const { store, folder } = await openStore(context);
  const begin = async (n: number, sessionId = 'ada'): Promise<string> => {
    const bytes = noise(100, n);
    const hash = hashBytes(bytes);
    await assert.rejects(store.put({ sessionId, hash, source: breakOff(bytes, 50), signal: never }));
    const name = readdirSync(join(folder, 'partial')).find((each) => each.endsWith(hash)) ?? '';
    utimesSync(join(folder, 'partial', name), Date.now() / 1000, Date.now() / 1000 - 100 + n);
    return hash;
  };
  const other = await begin(0, 'bob');
  const hashes: string[] = [];
  for (let n = 1; n <= 5; n++) hashes.push(await begin(n));
  const kept = await Promise.all(hashes.map((hash) => store.receivedBytes('ada', hash)));
  assert.deepEqual(kept, [0, 50, 50, 50, 50]);
  assert.equal(await store.receivedBytes('bob', other), 50);
});
