import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import type { Delivered, Outcome } from '../model/call.ts';
import { ToolFailure } from '../model/tool.ts';
import { argumentsOf, clock, toolOf } from './facts.test-kit.ts';
import { storeContent } from './store-content.ts';

const largest = 32 * 1024 * 1024;

function deliver(output: Json): Outcome {
  const execution = { result: { ok: true, output } as const, usage: {}, beforeImages: [] };
  const tool = toolOf({}, { summarize: (args, result) => `${JSON.stringify(args)} gave a ${typeof result}` });
  return (storeContent.run({ ...argumentsOf({ path: 'a' }), tool, execution }, clock) as Delivered).outcome;
}

test('a result is delivered as JSON, with a line about it for the log', () => {
  assert.deepEqual(deliver({ lines: 1 }), {
    ok: true,
    outputJson: '{"lines":1}',
    summary: '{"path":"a"} gave a object',
  });
});

test('a failure is delivered as it is', () => {
  const failure = new ToolFailure('NOT_FOUND', 'Gone.');
  const execution = { result: { ok: false, failure } as const, usage: {}, beforeImages: [] };
  const { outcome } = storeContent.run({ ...argumentsOf(), tool: toolOf(), execution }, clock) as Delivered;
  assert.ok(!outcome.ok && outcome.failure === failure);
});

test('a result may have 32 MB, counted in bytes; one more is a failure that says so', () => {
  // Two bytes are the quotes; the euro sign has three.
  assert.ok(deliver('x'.repeat(largest - 2)).ok);
  for (const [output, bytes] of [
    ['x'.repeat(largest - 1), largest + 1],
    ['€'.repeat(Math.ceil(largest / 3)), 3 * Math.ceil(largest / 3) + 2],
  ] as const) {
    const outcome = deliver(output);
    assert.ok(!outcome.ok);
    assert.equal(outcome.failure.code, 'TOO_LARGE');
    assert.ok(outcome.failure.message.includes(`${bytes} bytes`), outcome.failure.message.slice(0, 200));
  }
});
