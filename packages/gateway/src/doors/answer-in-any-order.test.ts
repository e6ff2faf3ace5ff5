import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { answerInAnyOrder } from './answer-in-any-order.ts';

/** Requests whose answers the test gives, in the order it likes. */
function openCounter(): { answer: (request: number) => Promise<string>; finish: (request: number) => void } {
  const waiting = new Map<number, PromiseWithResolvers<string>>();
  return {
    answer: (request) => {
      const pending = Promise.withResolvers<string>();
      waiting.set(request, pending);
      return pending.promise;
    },
    finish: (request) => (waiting.get(request) ?? assert.fail(`${request} was not begun`)).resolve(`answer ${request}`),
  };
}

async function* count(to: number): AsyncGenerator<number, void, undefined> {
  for (let number = 1; number <= to; number++) yield number;
}

test('answers go out when they are ready, each once, and the stream ends after the last', async () => {
  const { answer, finish } = openCounter();
  const answers = answerInAnyOrder(count(3), 10, answer);
  const first = answers.next();
  await turn();
  finish(2);
  assert.deepEqual(await first, { done: false, value: 'answer 2' });
  finish(3);
  assert.deepEqual(await answers.next(), { done: false, value: 'answer 3' });
  finish(1);
  assert.deepEqual(await answers.next(), { done: false, value: 'answer 1' });
  assert.deepEqual(await answers.next(), { done: true, value: undefined });
});

test('no more requests are read than may be open, and the next one is read when an answer is taken', async () => {
  const { answer, finish } = openCounter();
  let read = 0;
  async function* requests(): AsyncGenerator<number, void, undefined> {
    for await (const number of count(5)) {
      read = number;
      yield number;
    }
  }
  const answers = answerInAnyOrder(requests(), 2, answer);
  const first = answers.next();
  await turn();
  assert.equal(read, 2);
  finish(1);
  await first;
  await turn();
  assert.equal(read, 2, 'an answer that is not taken yet keeps its place');
  const second = answers.next();
  await turn();
  assert.equal(read, 3);
  for (const request of [2, 3]) finish(request);
  await second;
});

test('an error among the requests comes after the answers to those before it', async () => {
  async function* requests(): AsyncGenerator<number, void, undefined> {
    yield 1;
    yield 2;
    throw new Error('undecodable');
  }
  const { answer, finish } = openCounter();
  const answers = answerInAnyOrder(requests(), 10, answer);
  const first = answers.next();
  await turn();
  finish(2);
  finish(1);
  assert.equal((await first).value, 'answer 2');
  assert.equal((await answers.next()).value, 'answer 1');
  await assert.rejects(answers.next(), /undecodable/);
});

test('who stops taking answers ends the reading', async () => {
  let closed = false;
  async function* requests(): AsyncGenerator<number, void, undefined> {
    try {
      yield* count(100);
    } finally {
      closed = true;
    }
  }
  for await (const _ of answerInAnyOrder(requests(), 4, async (number) => number)) break;
  assert.ok(closed);
});

test('thousands of requests are all answered, with never more open than allowed', async () => {
  let open = 0;
  let most = 0;
  const answer = async (number: number): Promise<number> => {
    most = Math.max(most, ++open);
    for (let wait = number % 7; wait > 0; wait--) await turn();
    open--;
    return number;
  };
  const seen: number[] = [];
  for await (const number of answerInAnyOrder(count(3000), 32, answer)) seen.push(number);
  assert.equal(new Set(seen).size, 3000);
  assert.equal(seen.length, 3000);
  assert.equal(most, 32);
});
