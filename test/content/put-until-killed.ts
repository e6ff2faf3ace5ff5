// Puts content as fast as it can and prints the hash of each put that was acknowledged. Arguments: folder, first seed.
import { writeSync } from 'node:fs';
import { ContentStore } from '../../packages/gateway/src/content/content-store.ts';
import { hashBytes } from '../../packages/gateway/src/content/content-hash.ts';
import { memoryIndex, never, noise } from '../../packages/gateway/src/content/content.test-kit.ts';

const [folder = '', firstSeed = '0'] = process.argv.slice(2);
const store = await ContentStore.open({ folder, index: memoryIndex(), keepFreeBytes: 0 });

function* cut(bytes: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
}

/** One lane declares the hash, so that the kill leaves partial uploads, too. */
async function putForever(lane: number): Promise<never> {
  for (let n = 0; ; n++) {
    const bytes = noise(400_000, Number(firstSeed) + n * 2 + lane);
    const declared = lane === 0 ? { hash: hashBytes(bytes) } : {};
    const { hash } = await store.put({ sessionId: 'ada', source: cut(bytes), ...declared, signal: never });
    writeSync(1, `${hash}\n`);
  }
}

await Promise.all([putForever(0), putForever(1)]);
