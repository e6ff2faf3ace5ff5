import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { canonicalJson, parseStrictJson, StrictJsonError } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import fc from 'fast-check';
import { maxParts, TooManyParts } from './json-parts.ts';
import { LargeJson } from './large-json.ts';
import { PlainJsonError } from './plain-json.ts';

/** What came of it, also if it is an error: in a form that can be compared. */
async function outcomeOf(run: () => Json | Promise<Json>): Promise<unknown> {
  try {
    return { value: await run() };
  } catch (error) {
    return error instanceof Error ? { name: error.name, message: error.message } : assert.fail('not an error');
  }
}

const hostile = [
  '',
  '{',
  '[1,]',
  '{"a":1,"a":2}',
  '{"a":{"b":1,"\\u0062":2}}',
  '{"__proto__":{"x":1}}',
  '{"constructor":1}',
  '"\\ud800"',
  '"\ud800"',
  '1e999',
  '-0',
  '[1] 2',
  '['.repeat(200) + ']'.repeat(200),
];

test('the other thread reads arguments as the gate does, and refuses them in the same words', async () => {
  const large = new LargeJson({ restAfterMs: 0 });
  for (const text of hostile) {
    assert.deepEqual(
      await outcomeOf(() => large.parseArguments(text)),
      await outcomeOf(() => parseStrictJson(text)),
      JSON.stringify(text),
    );
  }
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 5 }), async (text) => {
      assert.deepEqual(await outcomeOf(() => large.parseArguments(text)), await outcomeOf(() => parseStrictJson(text)));
    }),
    { numRuns: 100 },
  );
});

test('what comes from the other thread inherits nothing, at any depth', async () => {
  const value = await new LargeJson({ restAfterMs: 0 }).parseArguments('{"a":[{"b":{}}]}');
  const { a } = value as { a: readonly { b: object }[] };
  for (const each of [value as object, a[0], a[0]?.b]) {
    assert.ok(each !== undefined && !('toString' in each) && !('constructor' in each));
  }
});

test('messages are read as JSON.parse reads them, and nothing of them is quoted when they cannot be', async () => {
  const large = new LargeJson({ restAfterMs: 0 });
  const text = '{"name":"files.write","inputJson":"{\\"content\\":\\"hällo\\"}"}';
  assert.deepEqual(await large.parseMessage(Buffer.from(text)), JSON.parse(text));
  await assert.rejects(large.parseMessage(Buffer.from([0x22, 0xff, 0x22])), PlainJsonError);
  await assert.rejects(large.parseMessage(Buffer.from('{"secret": hunter2}')), (error: Error) => {
    assert.ok(error instanceof PlainJsonError);
    assert.doesNotMatch(error.message, /hunter2/);
    return true;
  });
});

test('bytes that belong to a larger piece of memory are copied, so that others keep theirs', async () => {
  const shared = Buffer.alloc(64, 0x20);
  shared.write('{"a":1}', 8);
  assert.deepEqual(await new LargeJson({ restAfterMs: 0 }).parseMessage(shared.subarray(8, 15)), { a: 1 });
  assert.equal(shared.toString('latin1', 8, 15), '{"a":1}');
});

test('a text of too many parts is refused before it is read', async () => {
  const large = new LargeJson({ restAfterMs: 0 });
  const text = `[${'0,'.repeat(maxParts + 1)}0]`;
  await assert.rejects(large.parseArguments(text), TooManyParts);
  await assert.rejects(large.parseMessage(Buffer.from(text)), TooManyParts);
  // Commas in a text are no parts.
  assert.equal(await large.parseArguments(JSON.stringify(','.repeat(200_000))), ','.repeat(200_000));
});

test('the digest is that of the canonical form', async () => {
  const value = parseStrictJson('{"b":[1,2.50,"\\u00e9"],"a":{"z":null,"y":true}}');
  assert.equal(await new LargeJson({ restAfterMs: 0 }).digest(value), hash('sha256', canonicalJson(value)));
});

test('many at once are answered each with its own', async () => {
  const large = new LargeJson({ restAfterMs: 0 });
  const asked = Array.from({ length: 50 }, (_, nth) => large.parseArguments(`{"nth":${nth}}`));
  const answers = (await Promise.all(asked)) as { readonly nth: number }[];
  assert.deepEqual(
    answers.map(({ nth }) => nth),
    asked.map((_, nth) => nth),
  );
});

test('when the thread fails, what it had to do is rejected, and the next work gets a new thread', async () => {
  const failing = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  for (const code of ['process.exit(3)', 'throw new Error("broken")']) {
    const large = new LargeJson({
      file: failing(`import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => { ${code} });`),
    });
    for (let round = 0; round < 2; round++) {
      const asked = [large.parseArguments('{}'), large.digest(1)];
      for (const outcome of await Promise.allSettled(asked)) {
        assert.ok(outcome.status === 'rejected' && !(outcome.reason instanceof StrictJsonError));
      }
    }
  }
});
