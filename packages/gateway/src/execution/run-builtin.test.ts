import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { NetworkLog } from '@sallyport/sandbox';
import { refuse } from '../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import { openDeadline, runBuiltin } from './run-builtin.ts';
import type { ObservedContext } from './tool-context.ts';

const still = new AbortController().signal;
const network = new NetworkLog();
const observed = {
  usage: () => ({ bytesRead: 1 }),
  beforeImages: [],
  warnings: [],
  network,
  hasBegun: () => false,
} as unknown as ObservedContext;
const quick = { graceMs: 1 };

async function failureOf(run: () => Promise<Json>, signal: AbortSignal, grace = {}): Promise<ToolFailure> {
  const { result } = await runBuiltin(run, signal, observed, grace);
  return result.ok ? assert.fail('the tool succeeded') : result.failure;
}

test('what a tool returns is its result, with what it used', async () => {
  const execution = await runBuiltin(async () => 'done', still, observed);
  assert.deepEqual(execution, {
    result: { ok: true, output: 'done' },
    usage: { bytesRead: 1 },
    beforeImages: [],
    hasBegun: false,
  });
});

test('a failure is a result; a refusal and a bug are thrown on', async () => {
  const failure = new ToolFailure('NO_MATCH', 'Not there.');
  assert.equal(await failureOf(() => Promise.reject(failure), still), failure);
  const refused = new ToolRefused(refuse('UNSAFE_PATH', 'links', 'No.'));
  await assert.rejects(
    runBuiltin(() => Promise.reject(refused), still, observed),
    refused,
  );
  const bug = new TypeError('bug');
  await assert.rejects(
    runBuiltin(() => Promise.reject(bug), still, observed),
    bug,
  );
});

test('a signal that has aborted starts nothing', async () => {
  const reason = new ToolFailure('TIMEOUT', 'Too late.');
  assert.equal(await failureOf(() => assert.fail('it ran'), AbortSignal.abort(reason)), reason);
  assert.equal((await failureOf(() => assert.fail('it ran'), AbortSignal.abort())).code, 'CANCELLED');
});

test('a tool that was told to stop is waited for: its effect belongs to this call', async () => {
  const stop = new AbortController();
  const finishing = async (): Promise<Json> => {
    stop.abort(new ToolFailure('CANCELLED', 'Stop.'));
    await new Promise((resolve) => setImmediate(resolve));
    return 'written after all';
  };
  const { result } = await runBuiltin(finishing, stop.signal, observed);
  assert.ok(result.ok && result.output === 'written after all');
});

test('what a tool throws on being stopped is why it was stopped', async () => {
  const reason = new ToolFailure('TIMEOUT', 'Too long.');
  for (const thrown of [reason, new DOMException('aborted', 'AbortError')]) {
    const stop = new AbortController();
    const stopping = (): Promise<Json> => {
      stop.abort(reason);
      return Promise.reject(thrown);
    };
    assert.equal(await failureOf(stopping, stop.signal), reason);
  }
  const early = new DOMException('aborted', 'AbortError');
  await assert.rejects(
    runBuiltin(() => Promise.reject(early), still, observed),
    early,
  );
});

test('a tool that ignores the signal is left behind; what it throws later harms nobody', async () => {
  const stop = new AbortController();
  const later = Promise.withResolvers<Json>();
  const answer = failureOf(() => later.promise, stop.signal, quick);
  stop.abort(new ToolFailure('TIMEOUT', 'Too long.'));
  const { code, message } = await answer;
  assert.equal(code, 'TIMEOUT');
  assert.equal(message, 'Too long. It did not stop; its effect may still happen.');
  later.reject(new Error('too late to matter'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('a tool that throws at once while it is being stopped leaves no rejection behind', async () => {
  const stop = new AbortController();
  const unhandled: unknown[] = [];
  const listen = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', listen);
  const throwing = (): Promise<Json> => {
    stop.abort();
    throw new TypeError('bug');
  };
  await assert.rejects(runBuiltin(throwing, stop.signal, observed, quick), /bug/);
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off('unhandledRejection', listen);
  assert.deepEqual(unhandled, []);
});

test('nothing stays behind on the signal of a call that has ended', async () => {
  const { signal } = new AbortController();
  const deadline = openDeadline(signal, 60_000);
  await runBuiltin(async () => null, deadline.signal, observed);
  deadline.close();
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(getEventListeners(deadline.signal, 'abort').length, 0);
});

test('a deadline says whether the time was up or the caller went away', async () => {
  const timed = openDeadline(still, 1);
  await new Promise((resolve) => timed.signal.addEventListener('abort', resolve));
  assert.ok(timed.signal.reason instanceof ToolFailure && timed.signal.reason.code === 'TIMEOUT');

  const caller = new AbortController();
  const cancelled = openDeadline(caller.signal, 60_000);
  caller.abort();
  assert.ok(cancelled.signal.reason instanceof ToolFailure && cancelled.signal.reason.code === 'CANCELLED');
  cancelled.close();

  const gone = openDeadline(AbortSignal.abort(), 60_000);
  assert.ok(gone.signal.aborted);
  gone.close();
});
