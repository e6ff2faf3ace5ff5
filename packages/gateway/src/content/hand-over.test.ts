import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandOver } from './hand-over.ts';
import { never } from './content.test-kit.ts';

const pending = async (promise: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, 'pending'))])) === 'pending';

test('what is written is read in order, and the reader ends with the writer', async () => {
  const items = new HandOver<number>();
  const writing = (async () => {
    for (let n = 0; n < 100; n++) await items.write(n, never);
    items.end();
  })();
  const read: number[] = [];
  for await (const item of items) read.push(item);
  await writing;
  assert.deepEqual(
    read,
    Array.from({ length: 100 }, (_, n) => n),
  );
});

test('a write waits until the reader is done with the item', async () => {
  const items = new HandOver<string>();
  const writing = items.write('a', never);
  assert.ok(await pending(writing), 'nobody has taken it');
  assert.deepEqual(await items.next(), { done: false, value: 'a' });
  assert.ok(await pending(writing), 'the reader still has it');
  const next = items.next();
  await writing;
  assert.ok(await pending(next));
  items.end();
  assert.equal((await next).done, true);
  assert.equal((await items.next()).done, true);
});

test('a reader who leaves is told to the one who writes, now and later', async () => {
  const items = new HandOver<string>();
  const taken = items.write('a', never);
  await items.next();
  await items.return();
  await assert.rejects(taken, { code: 'CANCELLED' });
  await assert.rejects(items.write('b', never), { code: 'CANCELLED' });

  const untaken = new HandOver<string>();
  const waiting = untaken.write('a', never);
  await untaken.return();
  await assert.rejects(waiting, { code: 'CANCELLED' });
});

test('a signal ends a write that nobody takes, and takes the item back', async () => {
  const items = new HandOver<string>();
  const stop = new AbortController();
  const writing = items.write('a', stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(writing, /enough/);
  await assert.rejects(items.write('b', stop.signal), /enough/);
  const next = items.next();
  assert.ok(await pending(next), 'the item that was taken back is not read');
  items.end();
  assert.equal((await next).done, true);
});
