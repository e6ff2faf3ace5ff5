import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
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
import { requirement } from '../requirement.ts';

const rounds = 10;
const program = join(import.meta.dirname, 'put-until-killed.ts');

/** Kills the process a random moment after its first acknowledgement; returns what it acknowledged. */
async function putAndKill(folder: string, firstSeed: number): Promise<string[]> {
  const child = spawn(process.execPath, [program, folder, String(firstSeed)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  const closed = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), closed]);
  setTimeout(() => child.kill('SIGKILL'), Math.random() * 40);
  await closed;
  assert.equal(child.signalCode, 'SIGKILL');
  // The last line may have been cut off.
  return output.split('\n').slice(0, -1);
}

test(`killed at ${rounds} random moments, the store has all that it acknowledged and nothing half`, async (context) => {
  requirement('NFR-2');
  const folder = newFolder(context);
  const acknowledged: string[] = [];
  let cutOff = 0;
  for (let round = 0; round < rounds; round++) {
    const firstSeed = 1000 * (round + 1);
    acknowledged.push(...(await putAndKill(folder, firstSeed)));
    cutOff += leftovers(folder).length;
    const { store } = await openStore(context, { folder });
    assert.deepEqual(readdirSync(join(folder, 'staging')), [], 'a start clears what was cut off');

    const { corrupted, checked } = await store.verify();
    assert.deepEqual(corrupted, []);
    assert.ok(checked >= new Set(acknowledged).size);
    for (const name of readdirSync(join(folder, 'partial'))) await finish(store, name, firstSeed);
  }
  const { store } = await openStore(context, { folder });
  for (const hash of acknowledged) assert.equal(hashBytes(await readAll(store, hash)), hash);
  assert.ok(acknowledged.length >= rounds && cutOff > 0, 'no kill came at a bad moment, so nothing was tried');
});

/** Goes on with a partial upload that the kill left behind: it must become exactly the content it was meant to be. */
async function finish(store: Awaited<ReturnType<typeof openStore>>['store'], name: string, firstSeed: number) {
  const hash = name.slice(name.indexOf('-') + 1);
  for (let n = 0; n < 500; n++) {
    const bytes = noise(400_000, firstSeed + n * 2);
    if (hashBytes(bytes) !== hash) continue;
    const offset = await store.receivedBytes('ada', hash);
    await store.put({ sessionId: 'ada', hash, offset, source: [bytes.subarray(offset)], signal: never });
    assert.ok((await readAll(store, hash)).equals(bytes));
    return;
  }
  assert.fail(`nobody was putting ${hash}`);
}
