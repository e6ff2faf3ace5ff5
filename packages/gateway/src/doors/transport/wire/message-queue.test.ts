import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageQueue } from './message-queue.ts';

function openQueue() {
  const calls: string[] = [];
  const queue = new MessageQueue<number>({ pause: () => calls.push('pause'), resume: () => calls.push('resume') });
  return { queue, calls };
}

describe('MessageQueue', () => {
  it('hands out what came before and what comes while the reader waits, in order', async () => {
    const { queue } = openQueue();
    queue.push(1);
    queue.push(2);
    const heard: number[] = [];
    const reading = (async () => {
      for await (const items of queue) heard.push(...items);
    })();
    await new Promise(setImmediate);
    queue.push(3);
    queue.push(4);
    queue.end();
    await reading;
    assert.deepEqual(heard, [1, 2, 3, 4]);
  });

  it('holds the source back while many wait, and lets it go on when they are read', async () => {
    const { queue, calls } = openQueue();
    for (let item = 0; item < 16; item++) queue.push(item);
    assert.deepEqual(calls, ['pause']);
    const { value } = (await queue.next()) as IteratorYieldResult<readonly number[]>;
    assert.equal(value.length, 16);
    assert.deepEqual(calls, ['pause'], 'the reader has them, and is not back for more');
    void queue.next();
    assert.deepEqual(calls, ['pause', 'resume']);
  });

  it('stays held back for whoever holds it, also when the reader is back', async () => {
    const { queue, calls } = openQueue();
    for (let item = 0; item < 16; item++) queue.push(item);
    queue.hold();
    await queue.next();
    void queue.next();
    assert.ok(!calls.includes('resume'));
    queue.resume();
    assert.equal(calls.at(-1), 'resume');
  });

  it('hands out together what comes in one turn, also to a reader who waits', async () => {
    const { queue } = openQueue();
    const waiting = queue.next();
    for (const item of [1, 2, 3]) queue.push(item);
    queue.end(new Error('broken'));
    assert.deepEqual(await waiting, { done: false, value: [1, 2, 3] });
    await assert.rejects(queue.next(), /broken/);
  });

  it('throws the error once, after the messages that came before it', async () => {
    const { queue } = openQueue();
    queue.push(1);
    queue.end(new Error('broken'));
    queue.push(2);
    assert.deepEqual(await queue.next(), { done: false, value: [1] });
    await assert.rejects(queue.next(), /broken/);
    assert.deepEqual(await queue.next(), { done: true, value: undefined });
  });

  it('wakes a waiting reader with the error', async () => {
    const { queue } = openQueue();
    const waiting = assert.rejects(queue.next(), /broken/);
    queue.end(new Error('broken'));
    await waiting;
  });

  it('keeps nothing for a reader who left', async () => {
    const { queue } = openQueue();
    queue.push(1);
    queue.push(2);
    for await (const items of queue) {
      assert.deepEqual(items, [1, 2]);
      break;
    }
    queue.push(3);
    assert.deepEqual(await queue.next(), { done: true, value: undefined });
  });
});
