import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import { hashBytes, isContentHash } from './content-hash.ts';
import { leftovers, memoryIndex, never, newFolder, noise, openStore, readAll } from './content.test-kit.ts';
import { blockBytes } from './read-blocks.ts';

// From the test vectors that the authors of BLAKE3 publish.
const vectors: readonly (readonly [bytes: Buffer, hash: string])[] = [
  [Buffer.alloc(0), 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'],
  [Buffer.from([0]), '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213'],
];

test('content is found under its BLAKE3 hash and comes back byte for byte', async (context) => {
  const { store, folder, put, pathOf } = await openStore(context);
  for (const [bytes, hash] of vectors) {
    assert.deepEqual(await put(bytes), { hash, sizeBytes: bytes.length });
    assert.deepEqual(readFileSync(pathOf(hash)), bytes);
    assert.deepEqual(await readAll(store, hash), bytes);
    assert.equal(await store.sizeOf(hash), bytes.length);
  }
  assert.deepEqual(leftovers(folder), []);
  assert.equal(statSync(folder).mode & 0o077, 0);
});

test('however the bytes are cut, they are stored as one, and every range of them can be read', async (context) => {
  const { store } = await openStore(context);
  const around = fc.constantFrom(0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 3 * blockBytes + 7);
  const cuts = fc.array(fc.oneof(around, fc.nat({ max: 100_000 })), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(cuts, fc.nat(), fc.nat(), async (sizes, from, length) => {
      const chunks = sizes.map((size, n) => noise(size, n + 1));
      const bytes = Buffer.concat(chunks);
      const { hash } = await store.put({ sessionId: 'ada', source: chunks, signal: never });
      assert.equal(hash, hashBytes(bytes));
      const [offset, limit] = [from % (bytes.length + 2), length % (bytes.length + 2)];
      assert.ok((await readAll(store, hash, { offset, limit })).equals(bytes.subarray(offset, offset + limit)));
    }),
    { numRuns: 40 },
  );
});

test('the session that put content may use it from then on, and nobody else', async (context) => {
  const { index, put } = await openStore(context);
  const { hash } = await put(noise(10), 'ada');
  assert.ok(await index.mayUseContent('ada', hash));
  assert.ok(!(await index.mayUseContent('bob', hash)));
});

test('bytes that are not what was declared are refused and leave nothing', async (context) => {
  const { store, folder, index } = await openStore(context);
  const bytes = noise(1000);
  const declared = { sessionId: 'ada', source: [bytes], signal: never };
  const wrong = hashBytes(Buffer.from('other'));
  await assert.rejects(store.put({ ...declared, hash: wrong }), { code: 'CONTENT_MISMATCH' });
  await assert.rejects(store.put({ ...declared, sizeBytes: 999 }), { code: 'CONTENT_MISMATCH' });
  assert.deepEqual(leftovers(folder), []);
  assert.deepEqual(await index.listContent(), []);
  const { hash } = await store.put({ ...declared, hash: hashBytes(bytes), sizeBytes: 1000 });
  assert.deepEqual(await readAll(store, hash), bytes);
});

test('content above the limit is refused, by its declared size or as it comes', async (context) => {
  const { store, folder } = await openStore(context, { maxContentBytes: 5000 });
  const upload = { sessionId: 'ada', source: [noise(3000), noise(3000)], signal: never };
  await assert.rejects(store.put(upload), { code: 'TOO_LARGE' });
  await assert.rejects(store.put({ ...upload, source: [], sizeBytes: 5001 }), { code: 'TOO_LARGE' });
  assert.deepEqual(leftovers(folder), []);
});

test('an upload that would leave the disk too little space is refused before and while it comes', async (context) => {
  const { store, folder } = await openStore(context, { keepFreeBytes: Number.MAX_SAFE_INTEGER });
  const upload = { sessionId: 'ada', source: [noise(10)], signal: never };
  await assert.rejects(store.put({ ...upload, sizeBytes: 10 }), { code: 'DISK_FULL' });
  await assert.rejects(store.put(upload), { code: 'DISK_FULL' });
  assert.deepEqual(leftovers(folder), []);
});

test('the same content put by twenty at once becomes one file that all of them may use', async (context) => {
  const { store, folder, index } = await openStore(context);
  const bytes = noise(600_000);
  const hash = hashBytes(bytes);
  const puts = Array.from({ length: 20 }, (_, n) =>
    store.put({ sessionId: `s${n % 5}`, source: [bytes], hash, sizeBytes: bytes.length, signal: never }),
  );
  for (const stored of await Promise.all(puts)) assert.deepEqual(stored, { hash, sizeBytes: bytes.length });
  assert.equal((await store.verify()).checked, 1);
  assert.equal((await index.listContent()).length, 1);
  for (let n = 0; n < 5; n++) assert.ok(await index.mayUseContent(`s${n}`, hash));
  assert.deepEqual(leftovers(folder), []);
});

test('only 64 hexadecimal digits in lower case name content; nothing else reaches the disk', async (context) => {
  requirement('EXEC-7');
  const { store } = await openStore(context);
  const good = 'ab'.repeat(32);
  const tricks = ['', '../../../etc/passwd', `../${good}`.slice(0, 64), good.toUpperCase(), `${good}\n`, `${good}0`];
  for (const trick of [...tricks, `${good.slice(0, 62)}/.`, `${good.slice(0, 63)}\0`, '..'.repeat(32)]) {
    assert.ok(!isContentHash(trick), JSON.stringify(trick));
    await assert.rejects(store.open(trick, never), TypeError);
    await assert.rejects(store.sizeOf(trick), TypeError);
    await assert.rejects(
      store.hold(trick, () => Promise.resolve()),
      TypeError,
    );
  }
  await assert.rejects(store.open(good, never), { code: 'NOT_FOUND' });
});

test('a link in the place of content is not followed', async (context) => {
  requirement('EXEC-7');
  const { store, folder, put, pathOf } = await openStore(context);
  const secret = join(newFolder(context), 'secret');
  writeFileSync(secret, 'secret');
  const hash = hashBytes(Buffer.from('secret'));
  mkdirSync(join(folder, hash.slice(0, 2)), { recursive: true });
  symlinkSync(secret, pathOf(hash));
  await assert.rejects(store.open(hash, never), { code: 'CONTENT_CORRUPTED' });
  assert.deepEqual((await store.verify()).corrupted, [hash]);
  await put(Buffer.from('secret'));
  assert.ok(!statSync(pathOf(hash)).isSymbolicLink());
  assert.equal((await readAll(store, hash)).toString(), 'secret');
});

test('what the index could not record is not acknowledged', async (context) => {
  const index = { ...memoryIndex(), recordContent: () => Promise.reject(new Error('sealed')) };
  const { put, folder } = await openStore(context, { index });
  await assert.rejects(put(noise(10)), /sealed/);
  assert.deepEqual(leftovers(folder), []);
});

test('content that is held cannot be collected; what does not exist cannot be held', async (context) => {
  const { store, index, put } = await openStore(context);
  const { hash, sizeBytes } = await put(noise(10));
  const artifact = { id: 'a', contentHash: hash, sizeBytes, category: 'c', metadata: [], publishedAtMs: 0 };
  let collecting: Promise<unknown> = Promise.resolve();
  await store.hold(hash, async (content) => {
    assert.deepEqual(content, { hash, sizeBytes });
    collecting = store.collectGarbage({ olderThanMs: -1000 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await index.publishArtifact({ ...artifact, sessionId: 'ada', agent: 'ada' });
  });
  await collecting;
  assert.equal(await store.sizeOf(hash), sizeBytes);
  const missing = hashBytes(Buffer.from('missing'));
  await assert.rejects(
    store.hold(missing, () => Promise.resolve()),
    { code: 'NOT_FOUND' },
  );
});
