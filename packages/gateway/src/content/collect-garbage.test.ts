import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { hashBytes } from './content-hash.ts';
import { memoryIndex, never, noise, openStore, readAll } from './content.test-kit.ts';

const hourMs = 3_600_000;
const publication = { category: 'c', metadata: [], sessionId: 'ada', agent: 'ada', publishedAtMs: 0 };

test('what nothing references goes when it is old enough; what is referenced, young or in use stays', async (context) => {
  let nowMs = Date.now();
  const { store, index, put, pathOf } = await openStore(context, { nowMs: () => nowMs });
  const published = await put(noise(10, 1));
  await index.publishArtifact({ ...publication, id: 'a', contentHash: published.hash, sizeBytes: 10 });
  const old = await put(noise(20, 2));
  const read = await put(noise(30, 3));
  nowMs += 2 * hourMs;
  await readAll(store, read.hash);
  const young = await put(noise(40, 4));
  utimesSync(pathOf(young.hash), nowMs / 1000, nowMs / 1000);

  assert.deepEqual(await store.collectGarbage({ olderThanMs: hourMs }), { removed: 1, freedBytes: 20, kept: 3 });
  assert.equal(await store.sizeOf(old.hash), undefined);
  assert.ok(!(await index.mayUseContent('ada', old.hash)));
  for (const { hash } of [published, read, young]) assert.ok((await store.sizeOf(hash)) !== undefined);
});

test('files that a crash left unknown are collected, and so is what is known without a file', async (context) => {
  const { store, index, put, pathOf } = await openStore(context);
  const orphan = noise(50, 5);
  const path = pathOf(hashBytes(orphan));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, orphan);
  const lost = await put(noise(60, 6));
  rmSync(pathOf(lost.hash));
  assert.deepEqual(await store.collectGarbage({ olderThanMs: hourMs }), { removed: 0, freedBytes: 0, kept: 2 });
  assert.deepEqual(await store.collectGarbage({ olderThanMs: -1000 }), { removed: 2, freedBytes: 50, kept: 0 });
  assert.ok(!existsSync(path));
  assert.deepEqual(await index.listContent(), []);
});

test('what is not content is left alone', async (context) => {
  const { store, folder } = await openStore(context);
  const strangers = ['notes.txt', 'ab/short', `abc/${'0'.repeat(61)}`, `zz/${'0'.repeat(62)}`];
  for (const name of strangers) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), 'x');
  }
  assert.deepEqual(await store.collectGarbage({ olderThanMs: -1000 }), { removed: 0, freedBytes: 0, kept: 0 });
  assert.deepEqual(await store.verify(), { checked: 0, checkedBytes: 0, corrupted: [], missing: [] });
  for (const name of strangers) assert.ok(existsSync(join(folder, name)));
});

test('a put of the same content while it is collected ends with all of it or none', async (context) => {
  const index = memoryIndex();
  // Slow enough that a collection without regard for puts would get between a file and what is known of it.
  const slow = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let n = 0; n < 3; n++) await setImmediate();
    const result = await work();
    for (let n = 0; n < 3; n++) await setImmediate();
    return result;
  };
  const { store } = await openStore(context, {
    index: {
      ...index,
      recordContent: (grant) => slow(() => index.recordContent(grant)),
      forgetContent: (hash) => slow(() => index.forgetContent(hash)),
    },
  });
  const bytes = noise(1000);
  const hash = hashBytes(bytes);
  let survived = 0;
  for (let round = 0; round < 60; round++) {
    await Promise.all([
      store.put({ sessionId: 'ada', source: [bytes], signal: never }),
      store.collectGarbage({ olderThanMs: -1000 }),
      store.collectGarbage({ olderThanMs: -1000 }),
    ]);
    const isThere = (await store.sizeOf(hash)) !== undefined;
    assert.equal(await index.mayUseContent('ada', hash), isThere, `round ${round}: known and stored are not the same`);
    if (isThere) survived++;
  }
  assert.ok(survived > 0, 'no put won a race, so nothing was raced');
});

test('a put whose content was young when it was finished is never collected', async (context) => {
  const { store, index } = await openStore(context);
  for (let round = 0; round < 30; round++) {
    const bytes = noise(1000, round + 1);
    const [{ hash }] = await Promise.all([
      store.put({ sessionId: 'ada', source: [bytes], signal: never }),
      store.collectGarbage({ olderThanMs: hourMs }),
    ]);
    assert.ok(await index.mayUseContent('ada', hash));
    assert.ok((await readAll(store, hash)).equals(bytes));
  }
});
