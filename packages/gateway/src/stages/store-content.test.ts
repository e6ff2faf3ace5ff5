import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import type { Delivered, Outcome, ReuseChecked } from '../call/call.ts';
import { ToolFailure } from '../call/tool.ts';
import { argumentsOf, callOf, clock, sessionOf, toolOf, runStage } from './facts.test-kit.ts';
import { largestInlineBytes, storeContent } from './store-content.ts';
import type { ResultStore } from './store-content.ts';

const keepsNothing: ResultStore = { keep: () => Promise.reject(new Error('not asked')) };
const kept = { hash: 'ab'.repeat(32), sizeBytes: 7 };

async function deliver(output: Json, results = keepsNothing, reused: ReuseChecked = {}): Promise<Outcome> {
  const execution = { result: { ok: true, output } as const, usage: {}, changes: [], hasBegun: false };
  const tool = toolOf({}, { summarize: (args, result) => `${JSON.stringify(args)} gave a ${typeof result}` });
  const facts = { ...callOf(), ...argumentsOf({ path: 'a' }), ...reused, session: sessionOf(), tool, execution };
  return ((await runStage(storeContent(results), facts, clock)) as Delivered).outcome;
}

test('a result is delivered as JSON, with a line about it for the log', async () => {
  assert.deepEqual(await deliver({ lines: 1 }), {
    ok: true,
    outputJson: '{"lines":1}',
    kept: undefined,
    summary: '{"path":"a"} gave a object',
  });
});

test('a failure is delivered as it is', async () => {
  const failure = new ToolFailure('NOT_FOUND', 'Gone.');
  const execution = { result: { ok: false, failure } as const, usage: {}, changes: [], hasBegun: false };
  const facts = { ...callOf(), ...argumentsOf(), session: sessionOf(), tool: toolOf(), execution };
  const { outcome } = (await runStage(storeContent(keepsNothing), facts, clock)) as Delivered;
  assert.ok(!outcome.ok && outcome.failure === failure);
});

test('a result may have 1 MB, counted in bytes; a larger one is kept for its session', async () => {
  const asked: [string, string][] = [];
  const results: ResultStore = {
    keep: (sessionId, bytes) => (asked.push([sessionId, Buffer.from(bytes).toString()]), Promise.resolve(kept)),
  };
  // Two bytes are the quotes; the euro sign has three.
  assert.ok((await deliver('x'.repeat(largestInlineBytes - 2), results)).ok);
  assert.deepEqual(asked, []);
  for (const output of ['x'.repeat(largestInlineBytes - 1), '€'.repeat(Math.ceil(largestInlineBytes / 3))]) {
    const outcome = await deliver(output, results);
    const summary = `{"path":"a"} gave a string; 7 bytes kept as ${kept.hash}`;
    assert.deepEqual(outcome, { ok: true, outputJson: '', kept, summary });
    assert.deepEqual(asked.pop(), [sessionOf().id, JSON.stringify(output)]);
  }
});

test('a result that cannot be kept is a failure that says that the tool has run', async () => {
  const full: ResultStore = { keep: () => Promise.reject(new ToolFailure('DISK_FULL', 'No space.')) };
  const outcome = await deliver('x'.repeat(largestInlineBytes), full);
  assert.ok(!outcome.ok && outcome.failure.code === 'DISK_FULL');
  assert.match(outcome.failure.message, /^The tool has run, .*: No space\.$/);
  const broken: ResultStore = { keep: () => Promise.reject(new TypeError('ours')) };
  await assert.rejects(deliver('x'.repeat(largestInlineBytes), broken), TypeError);
});

test('a kept result is reused where it lies', async () => {
  const outcome = await deliver(null, keepsNothing, { reused: { output: null, kept, callId: 'earlier' } });
  assert.ok(outcome.ok && outcome.kept === kept);
});
