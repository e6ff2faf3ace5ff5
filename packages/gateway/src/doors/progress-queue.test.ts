import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProgressQueue } from './progress-queue.ts';
import type { CallNews } from './progress-queue.ts';

test('a reader gets what was told, in order, and then the end', async () => {
  const queue = new ProgressQueue();
  queue.tell({ kind: 'stderr', text: 'a' });
  queue.tell({ kind: 'step', done: 1, total: 2, message: 'half' });
  const heard: CallNews[] = [];
  const reading = (async () => {
    for await (const message of queue) heard.push(message);
  })();
  await new Promise((resolve) => setImmediate(resolve));
  queue.tellPending('task', 'http://gate/task');
  queue.tell({ kind: 'stderr', text: 'b' });
  queue.end();
  await reading;
  assert.deepEqual(heard, [
    { case: 'progress', value: { stderr: 'a' } },
    { case: 'progress', value: { done: 1n, total: 2n, message: 'half' } },
    { case: 'pending', value: { taskId: 'task', link: 'http://gate/task' } },
    { case: 'progress', value: { stderr: 'b' } },
  ]);
});

test('what a slow reader leaves lying is dropped beyond a bound, and the reader is told', async () => {
  const queue = new ProgressQueue();
  for (let count = 0; count < 1000; count++) queue.tell({ kind: 'stderr', text: 'x'.repeat(1024) });
  queue.end();
  const [first, ...rest] = await Array.fromAsync(queue);
  assert.equal(rest.length, 0);
  const { stderr = '' } = first?.case === 'progress' ? first.value : {};
  assert.ok(stderr.length < 300 * 1024);
  assert.match(stderr, /dropped/);
});
