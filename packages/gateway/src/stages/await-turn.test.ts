import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TurnTaken } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import { Turnstile } from '../call/turnstile.ts';
import { awaitTurn } from './await-turn.ts';
import type { Turnstiles } from './await-turn.ts';
import { assertPassed, assertRefused, callOf, clock, sessionOf, toolOf, runStage } from './facts.test-kit.ts';

/** For calls that move no content. */
const only = (calls: Turnstile): Turnstiles => ({ calls, transfers: closed });
const closed = new Turnstile(() => ({ maxRunning: 0, maxRunningPerSession: 0 }), { longestWaitMs: 1 });

function turns(turnstile: Turnstile) {
  const stage = awaitTurn(only(turnstile));
  return (signal?: AbortSignal): Promise<TurnTaken | Refusal> => {
    const call = { ...callOf(signal === undefined ? {} : { signal }), session: sessionOf(), tool: toolOf() };
    return Promise.resolve(runStage(stage, call, clock) as Promise<TurnTaken | Refusal>);
  };
}

test('a call takes its place, and gives it back when it is released', async () => {
  const turnstile = new Turnstile(() => ({ maxRunning: 1, maxRunningPerSession: 1 }));
  const take = turns(turnstile);
  const first = assertPassed(await take());
  assert.equal(turnstile.running, 1);
  const second = take();
  first.releaseTurn();
  assertPassed(await second).releaseTurn();
  assert.equal(turnstile.running, 0);
});

test('a caller who goes away while waiting is refused as cancelled', async () => {
  const take = turns(new Turnstile(() => ({ maxRunning: 1, maxRunningPerSession: 1 })));
  await take();
  const leaving = new AbortController();
  const waiting = take(leaving.signal);
  leaving.abort();
  assertRefused(await waiting, { code: 'CANCELLED', rule: 'caller', remedy: undefined });
});

test('when the queue is full the call is refused and may come back', async () => {
  const turnstile = new Turnstile(() => ({ maxRunning: 0, maxRunningPerSession: 0 }));
  const take = turns(turnstile);
  const leaving = new AbortController();
  const waiting = Array.from({ length: 2048 }, () => take(leaving.signal));
  const refusal = assertRefused(await take(), {
    code: 'TOO_MANY_CALLS',
    rule: 'running-calls',
    remedy: 'Wait until calls of this session have ended, and send fewer at once.',
  });
  assert.equal(refusal.retryAfterMs, 1000);
  leaving.abort();
  await Promise.all(waiting);
});

test('the person who runs the gate does not queue behind the calls of agents', async () => {
  const turnstile = new Turnstile(() => ({ maxRunning: 0, maxRunningPerSession: 0 }));
  const tool = toolOf({ audience: 'operator' });
  const taken = await runStage(awaitTurn(only(turnstile)), { ...callOf(), session: sessionOf(), tool }, clock);
  assertPassed(taken).releaseTurn();
  assert.equal(turnstile.running, 0);
});

test('a pipeline takes no place: its steps do, one at a time', async () => {
  const turnstile = new Turnstile(() => ({ maxRunning: 1, maxRunningPerSession: 1 }));
  const stage = awaitTurn(only(turnstile));
  const pipeline = { ...callOf(), session: sessionOf(), tool: toolOf({ origin: 'pipeline' }) };
  for (let at = 0; at < 3; at++) assertPassed(await runStage(stage, pipeline, clock));
  assert.equal(turnstile.running, 0);
  assertPassed(await turns(turnstile)()).releaseTurn();
});

test('a transfer takes no place of the calls, and who waits too long is answered', async () => {
  const calls = new Turnstile(() => ({ maxRunning: 1, maxRunningPerSession: 1 }));
  const transfers = new Turnstile(() => ({ maxRunning: 1, maxRunningPerSession: 1 }), { longestWaitMs: 1 });
  const stage = awaitTurn({ calls, transfers });
  const transfer = () =>
    runStage(stage, { ...callOf(), session: sessionOf(), tool: toolOf({ isTransfer: true }) }, clock);
  assertPassed(await transfer());
  assertRefused(await transfer(), {
    code: 'TOO_MANY_CALLS',
    rule: 'running-calls',
    remedy: 'Wait until calls of this session have ended, and send fewer at once.',
  });
  assertPassed(await runStage(stage, { ...callOf(), session: sessionOf(), tool: toolOf() }, clock));
});
