import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { test } from 'node:test';
import { hashBytes } from '../../packages/gateway/src/content/content-hash.ts';
import {
  leftovers,
  never,
  newFolder,
  noise,
  openStore,
  readAll,
} from '../../packages/gateway/src/content/content.test-kit.ts';
import type { ToolFailure } from '../../packages/gateway/src/call/tool.ts';

const mebibyte = 1024 * 1024;

test('on a full disk an upload fails with what to do, leaves nothing, and what is stored stays whole', async (context) => {
  const folder = newFolder(context);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'tmpfs', folder]);
  try {
    const { store, put, index } = await openStore(context, { folder });
    const small = await put(noise(mebibyte, 1));
    const freeBytes = (): number => statfsSync(folder).bavail * statfsSync(folder).bsize;
    const before = freeBytes();
    const bytes = noise(6 * mebibyte, 2);
    const hash = hashBytes(bytes);
    // Free space is looked at beforehand, too; a size that is not declared meets the wall itself.
    const declared = { sessionId: 'ada', source: [bytes], sizeBytes: bytes.length, signal: never };
    await assert.rejects(store.put(declared), { code: 'DISK_FULL' });
    const chunks = Array.from({ length: 60 }, (_, n) => bytes.subarray(n * 100_000, (n + 1) * 100_000));
    for (const upload of [{ hash }, {}]) {
      const failing = store.put({ sessionId: 'ada', source: chunks, signal: never, ...upload });
      await assert.rejects(failing, { code: 'DISK_FULL', message: /Free some space/ });
    }
    assert.deepEqual(leftovers(folder), []);
    assert.equal(freeBytes(), before);
    assert.deepEqual(
      (await index.listContent()).map((content) => content.hash),
      [small.hash],
    );
    assert.ok((await readAll(store, small.hash)).equals(noise(mebibyte, 1)));
    await put(noise(mebibyte, 3));
    assert.deepEqual((await store.verify()).corrupted, []);
  } finally {
    execFileSync('umount', ['-l', folder]);
  }
});

test('when the disk itself refuses, the answer is the same', async (context) => {
  const folder = newFolder(context);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'tmpfs', folder]);
  try {
    // As if someone else had taken the space after it was looked at.
    const { put } = await openStore(context, { folder, keepFreeBytes: -Infinity });
    await assert.rejects(put(noise(6 * mebibyte)), (error: ToolFailure) => {
      assert.equal(error.code, 'DISK_FULL');
      assert.match(String(error.cause), /ENOSPC/);
      return true;
    });
    assert.deepEqual(leftovers(folder), []);
  } finally {
    execFileSync('umount', ['-l', folder]);
  }
});
