import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { WriterLink } from './writer-link.ts';
import type { WriterOptions } from './writer.ts';

/** Answers each operation with how many were in its message. They are of the kind that takes two places in the list. */
const program = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (list) => {
    if (list === 'close') return parentPort.close(), parentPort.postMessage({ kind: 'closed' });
    const value = (list.length - 1) / 2;
    const answers = Array.from({ length: value }, () => ({ ok: true, value }));
    parentPort.postMessage({ kind: 'written', answers, sealed: undefined, isBehind: false });
  });`;

function openLink(t: TestContext): { readonly write: () => Promise<number> } {
  const follower = { refresh: () => undefined, reload: () => undefined };
  const options = { databaseFile: 'none' } as WriterOptions;
  const link = new WriterLink(new Worker(program, { eval: true }), options, follower);
  t.after(() => link.close());
  return { write: () => link.write<number>({ name: 'catchUp' }) };
}

test('operations of one turn cross together, but not very many', async (t) => {
  const { write } = openLink(t);
  assert.equal(await write(), 1);
  assert.deepEqual(await Promise.all(Array.from({ length: 3 }, write)), [3, 3, 3]);
  const sizes = await Promise.all(Array.from({ length: 100 }, write));
  assert.equal(Math.max(...sizes), 16);
  // The rest of the hundred.
  assert.deepEqual(sizes.slice(96), [4, 4, 4, 4]);
});

test('with many calls at once, operations of several turns cross together', async (t) => {
  const { write } = openLink(t);
  const sizes: number[] = [];
  const lane = async (_: unknown, start: number): Promise<void> => {
    for (let n = 0; n < 30; n++) {
      for (let turns = (start + n) % 4; turns >= 0; turns--) await nextTurn();
      // What the rest of a call takes.
      for (const endsAt = performance.now() + 0.02; performance.now() < endsAt;);
      sizes.push(await write());
    }
  };
  await Promise.all(Array.from({ length: 32 }, lane));
  assert.equal(sizes.length, 32 * 30);
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;

  assert.ok(mean > 8, `${mean} in a message`);
});

test('an operation does not wait for others that never come', async (t) => {
  const { write } = openLink(t);
  await Promise.all(Array.from({ length: 20 }, write));
  // As after a burst, when more of them were expected.
  const startedAt = performance.now();
  for (let n = 0; n < 20; n++) {
    assert.equal(await write(), 1);
    await Promise.all(Array.from({ length: 20 }, write));
  }
  assert.ok(performance.now() - startedAt < 2000);
});
