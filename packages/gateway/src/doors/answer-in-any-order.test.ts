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

async function* count(to: number): AsyncGenerator<readonly number[], void, undefined> {
  for (let number = 1; number <= to; number++) yield [number];
}

test('answers go out when they are ready, each once, and the stream ends after the last', async () => {
  const { answer, finish } = openCounter();
  const answers = answerInAnyOrder(count(3), 10, answer);
  const first = answers.next();
  await turn();
  finish(2);
  assert.deepEqual(await first, { done: false, value: ['answer 2'] });
  finish(3);
  assert.deepEqual(await answers.next(), { done: false, value: ['answer 3'] });
  finish(1);
  assert.deepEqual(await answers.next(), { done: false, value: ['answer 1'] });
  assert.deepEqual(await answers.next(), { done: true, value: undefined });
});

test('no more requests are read than may be open, and the next one is read when an answer is taken', async () => {
  const { answer, finish } = openCounter();
  let read = 0;
  async function* requests(): AsyncGenerator<readonly number[], void, undefined> {
    for await (const numbers of count(5)) {
      read += numbers.length;
      yield numbers;
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
  async function* requests(): AsyncGenerator<readonly number[], void, undefined> {
    yield [1];
    yield [2];
    throw new Error('undecodable');
  }
  const { answer, finish } = openCounter();
  const answers = answerInAnyOrder(requests(), 10, answer);
  const first = answers.next();
  await turn();
  finish(2);
  finish(1);
  assert.deepEqual((await first).value, ['answer 2', 'answer 1']);
  await assert.rejects(answers.next(), /undecodable/);
});

test('who stops taking answers ends the reading', async () => {
  let closed = false;
  async function* requests(): AsyncGenerator<readonly number[], void, undefined> {
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
  for await (const numbers of answerInAnyOrder(batches(3000), 32, answer)) seen.push(...numbers);
  assert.equal(new Set(seen).size, 3000);
  assert.equal(seen.length, 3000);
  assert.equal(most, 32);
});

/** As many at a time as a caller likes, some of them more than may be open. */
async function* batches(to: number): AsyncGenerator<readonly number[], void, undefined> {
  for (let from = 0, size = 1; from < to; from += size, size = (size * 7) % 101) {
    yield Array.from({ length: Math.min(size, to - from) }, (_, at) => from + at);
  }
}

test('what is sent at once does not hold up everybody else until it is begun', async () => {
  let begun = 0;
  const answers = answerInAnyOrder(
    (async function* () {
      yield Array.from({ length: 200 }, (_, at) => at);
    })(),
    256,
    () => {
      begun++;
      return new Promise<number>(() => undefined);
    },
  );
  void answers.next();
  const seen: number[] = [];
  while (begun < 200) {
    await turn();
    seen.push(begun);
  }
  assert.ok(seen.length >= 200 / 16, `the others had ${seen.length} turns`);
  assert.ok(
    seen.every((sum, at) => sum - (seen[at - 1] ?? 0) <= 32),
    seen.join(),
  );
});

test('answers that are ready together go out together', async () => {
  const { answer, finish } = openCounter();
  async function* requests(): AsyncGenerator<readonly number[], void, undefined> {
    yield [1, 2, 3];
  }
  const answers = answerInAnyOrder(requests(), 10, answer);
  const first = answers.next();
  await turn();
  for (const request of [3, 1]) finish(request);
  assert.deepEqual((await first).value, ['answer 3', 'answer 1']);
  finish(2);
  assert.deepEqual((await answers.next()).value, ['answer 2']);
});
