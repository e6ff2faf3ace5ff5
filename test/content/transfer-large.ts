// Puts and gets content of so many MB, given as an argument, and prints how the memory of this process grew.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContentStore } from '../../packages/gateway/src/content/content-store.ts';
import { memoryIndex } from '../../packages/gateway/src/content/content.test-kit.ts';

const megabytes = Number(process.argv[2]);
const signal = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), 'sallyport-large-'));

function* makeChunks(): Generator<Uint8Array> {
  // The same memory each time, so that what grows is what the store takes.
  const chunk = Buffer.alloc(256 * 1024);
  for (let n = 0; n < megabytes * 4; n++) {
    chunk.writeUInt32LE(n);
    yield chunk;
  }
}

const peakBytes = (): number => process.resourceUsage().maxRSS * 1024;

try {
  const store = await ContentStore.open({ folder, index: memoryIndex(), keepFreeBytes: 0 });
  // What loading and the first use take is not what a transfer takes.
  await store.put({ sessionId: 's', source: [Buffer.alloc(4 * 1024 * 1024)], signal });
  const before = peakBytes();
  let startedAt = performance.now();
  const { hash, sizeBytes } = await store.put({ sessionId: 's', source: makeChunks(), signal });
  const putMs = performance.now() - startedAt;
  const afterPut = peakBytes();
  startedAt = performance.now();
  await using reader = await store.open(hash, signal);
  const openMs = performance.now() - startedAt;
  let readBytes = 0;
  for await (const piece of reader.read({ offset: 0, limit: sizeBytes }, signal)) readBytes += piece.length;
  const getMs = performance.now() - startedAt;
  const grown = { putBytes: afterPut - before, getBytes: peakBytes() - afterPut };
  process.stdout.write(JSON.stringify({ sizeBytes, readBytes, grown, putMs, openMs, getMs }));
} finally {
  rmSync(folder, { recursive: true });
}
