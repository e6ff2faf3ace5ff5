import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { NetworkLog } from '@sallyport/sandbox';
import type { Execution } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import { Deadline, runBuiltin } from './run-builtin.ts';
import type { ObservedContext } from './tool-context.ts';

const still = new AbortController().signal;
const network = new NetworkLog();
const observed = {
  usage: { bytesRead: 1 },
  changes: [],
  warnings: [],
  network,
  hasBegun: false,
} as unknown as ObservedContext;
const quick = { graceMs: 1 };

function openDeadline(signal: AbortSignal, timeoutMs: number): Deadline {
  return new Deadline({ cancellation: signal }, timeoutMs);
}

async function attempt(run: () => Json | Promise<Json>, signal: AbortSignal, grace = {}): Promise<Execution> {
  const deadline = openDeadline(signal, 60_000);
  try {
    return await runBuiltin({ run, deadline, observed }, grace);
  } finally {
    deadline.close();
  }
}

async function failureOf(run: () => Promise<Json>, signal: AbortSignal, grace = {}): Promise<ToolFailure> {
  const { result } = await attempt(run, signal, grace);
  return result.ok ? assert.fail('the tool succeeded') : result.failure;
}

test('what a tool returns is its result, with what it used', async () => {
  const execution = await attempt(async () => 'done', still);
  assert.deepEqual(execution, {
    result: { ok: true, output: 'done' },
    usage: { bytesRead: 1 },
    changes: [],
    warnings: undefined,
    network: undefined,
    hasBegun: false,
  });
});

test('a tool that is done at once needs no signal, no timer and no promise', () => {
  const cancellation = {
    aborted: false,
    reason: undefined,
    addEventListener: () => assert.fail('nobody asked for it'),
    removeEventListener: () => assert.fail('nobody asked for it'),
  };
  const deadline = new Deadline({ cancellation }, 1);
  const execution = runBuiltin({ run: () => 'done', deadline, observed });
  assert.ok(!(execution instanceof Promise) && execution.result.ok);
  deadline.close();
});

test('a failure is a result; a refusal and a bug are thrown on', async () => {
  const failure = new ToolFailure('NO_MATCH', 'Not there.');
  assert.equal(await failureOf(() => Promise.reject(failure), still), failure);
  const refused = new ToolRefused(refuse('UNSAFE_PATH', 'links', 'No.'));
  await assert.rejects(
    attempt(() => Promise.reject(refused), still),
    refused,
  );
  const bug = new TypeError('bug');
  await assert.rejects(
    attempt(() => Promise.reject(bug), still),
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
  const { result } = await attempt(finishing, stop.signal);
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
    attempt(() => Promise.reject(early), still),
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
  await assert.rejects(attempt(throwing, stop.signal, quick), /bug/);
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off('unhandledRejection', listen);
  assert.deepEqual(unhandled, []);
});

test('nothing stays behind on the signal of a call that has ended', async () => {
  const { signal } = new AbortController();
  const deadline = openDeadline(signal, 60_000);
  await runBuiltin({ run: async () => null, deadline, observed });
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
