import assert from 'node:assert/strict';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { test } from 'node:test';
import { never, noise, openStore, readAll } from './content.test-kit.ts';
import { blockBytes } from './read-blocks.ts';

function damage(path: string, position: number): void {
  const descriptor = openSync(path, 'r+');
  writeSync(descriptor, Buffer.from([0xee]), 0, 1, position);
  closeSync(descriptor);
}

const sizes = [10, blockBytes, blockBytes + 1, 3 * blockBytes + 5];

test('a single wrong byte anywhere is found before any byte is handed out', async (context) => {
  const { store, put, pathOf } = await openStore(context);
  for (const size of sizes) {
    for (const position of [0, size - 1, Math.floor(size / 2)]) {
      const bytes = noise(size, size + position);
      const { hash } = await put(bytes);
      damage(pathOf(hash), position);
      await assert.rejects(readAll(store, hash), { code: 'CONTENT_CORRUPTED' });
      // Putting it again repairs it.
      await put(bytes);
      assert.ok((await readAll(store, hash)).equals(bytes));
    }
  }
});

test('damage done after the content was found whole is found too, also while it is being read', async (context) => {
  const { store, put, pathOf } = await openStore(context);
  const bytes = noise(3 * blockBytes);
  const { hash } = await put(bytes);
  assert.ok((await readAll(store, hash)).equals(bytes));
  const { atime, mtime } = statSync(pathOf(hash));
  await using reader = await store.open(hash, never);
  const pieces = reader.read({ offset: 0, limit: Infinity }, never);
  const nextPiece = async (): Promise<Buffer | undefined> => (await pieces.next()).value as Buffer | undefined;
  assert.ok((await nextPiece())?.equals(bytes.subarray(0, blockBytes)));
  damage(pathOf(hash), 2 * blockBytes + 1);
  // As if nobody had touched it: the time of a file proves nothing.
  utimesSync(pathOf(hash), atime, mtime);
  assert.ok((await nextPiece())?.equals(bytes.subarray(blockBytes, 2 * blockBytes)));
  await assert.rejects(pieces.next(), { code: 'CONTENT_CORRUPTED' });
  await assert.rejects(readAll(store, hash), { code: 'CONTENT_CORRUPTED' });
  const undamaged = { offset: 5, limit: 100 };
  assert.ok((await readAll(store, hash, undamaged)).equals(bytes.subarray(5, 105)));
});

test('content that was cut short, grew, or became a folder is corrupted', async (context) => {
  const { store, put, pathOf } = await openStore(context);
  for (const size of sizes) {
    const { hash } = await put(noise(size, size));
    await readAll(store, hash);
    truncateSync(pathOf(hash), size - 1);
    await assert.rejects(readAll(store, hash), { code: 'CONTENT_CORRUPTED' });
    await put(noise(size, size));
    appendFileSync(pathOf(hash), 'x');
    await assert.rejects(readAll(store, hash), { code: 'CONTENT_CORRUPTED' });
    rmSync(pathOf(hash));
    mkdirSync(pathOf(hash));
    await assert.rejects(readAll(store, hash), { code: 'CONTENT_CORRUPTED' });
  }
});

test('a range beyond the end has no bytes', async (context) => {
  const { store, put } = await openStore(context);
  const { hash } = await put(noise(100));
  assert.equal((await readAll(store, hash, { offset: 100, limit: 10 })).length, 0);
  assert.equal((await readAll(store, hash, { offset: 1e15, limit: 10 })).length, 0);
  assert.equal((await readAll(store, hash, { offset: 90, limit: 100 })).length, 10);
});

test('reading stops when it is told to', async (context) => {
  const { store, put } = await openStore(context);
  const { hash } = await put(noise(3 * blockBytes));
  const stop = new AbortController();
  await using reader = await store.open(hash, stop.signal);
  const pieces = reader.read({ offset: 0, limit: Infinity }, stop.signal);
  await pieces.next();
  stop.abort(new Error('enough'));
  await assert.rejects(pieces.next(), /enough/);
  const other = await put(noise(2 * blockBytes, 7));
  await assert.rejects(store.open(other.hash, stop.signal), /enough/);
});

test('reading content counts as using it, at most once an hour', async (context) => {
  let nowMs = Date.now();
  const { store, put, pathOf } = await openStore(context, { nowMs: () => nowMs });
  const { hash } = await put(noise(10));
  const putAtMs = statSync(pathOf(hash)).mtimeMs;
  nowMs += 3_000_000;
  await readAll(store, hash);
  assert.equal(statSync(pathOf(hash)).mtimeMs, putAtMs);
  nowMs += 3_000_000;
  await readAll(store, hash);
  assert.ok(Math.abs(statSync(pathOf(hash)).mtimeMs - nowMs) < 2);
});
