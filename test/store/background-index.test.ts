import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseFilter } from '../../packages/gateway/src/audit/search/parse-filter.ts';
import { BackgroundIndex } from '../../packages/gateway/src/storage/sqlite/index/background-index.ts';
import type { BackgroundIndexParts } from '../../packages/gateway/src/storage/sqlite/index/background-index.ts';
import { openSqliteStore } from '../../packages/gateway/src/storage/sqlite/sqlite-store.ts';
import { sessionNamed } from './entries.ts';
import { makeCall } from './make-calls.ts';
import { storeOptionsIn } from './store-options.ts';

async function openIndex(context: TestContext, more: Partial<BackgroundIndexParts>) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-index-'));
  const options = storeOptionsIn(folder);
  const store = await openSqliteStore(options);
  const session = sessionNamed();
  await store.createSession(session);
  const errors: Error[] = [];
  const index = new BackgroundIndex({
    ...{ databaseFile: options.databaseFile, indexFile: join(folder, 'index.db') },
    ...{ logSize: store.logSize, onError: (error: Error) => errors.push(error) },
    ...more,
  });
  context.after(async () => {
    await index.close();
    await store.close();
    rmSync(folder, { recursive: true });
    assert.deepEqual(errors, []);
  });
  // How many records a search did not look at.
  const missed = async (): Promise<number> => {
    const size = await store.logSize();
    const { indexedSize } = await index.search({ filter: parseFilter('', Date.now()), limit: 1 });
    return Math.max(0, size - indexedSize);
  };
  return { index, missed, call: () => makeCall(store, session) };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

test('an index that has nothing to do rests, and what was recorded meanwhile is found', async (context) => {
  const { index, missed, call } = await openIndex(context, { startAfterMs: 0, restAfterMs: 20 });
  for (let round = 0; round < 3; round++) {
    await until(() => index.restingSize !== undefined);
    await call();
    assert.equal(await missed(), 0);
  }
});

test('a question that meets an index about to rest is answered by the next one', async (context) => {
  const { index, missed } = await openIndex(context, { startAfterMs: 0, restAfterMs: 20 });
  for (let round = 0; round < 3; round++) {
    // Its last message is here, and it has not ended yet.
    await until(() => index.restingSize !== undefined);
    assert.equal(await missed(), 0);
    assert.deepEqual(await Promise.all([missed(), missed(), missed()]), [0, 0, 0]);
  }
});

test('an index that rests begins again when the log has grown', async (context) => {
  const { index, call } = await openIndex(context, { startAfterMs: 0, restAfterMs: 20, lookEveryMs: 5 });
  await until(() => index.restingSize !== undefined);
  const size = index.restingSize ?? 0;
  await Promise.all(Array.from({ length: 400 }, call));
  await sleep(50);
  assert.equal(index.restingSize, size, 'a few records are left to the next search');
  await Promise.all(Array.from({ length: 200 }, call));
  await until(() => (index.restingSize ?? 0) >= size + 1200);
});
