import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Json, JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import type { Begun, KeyHeld, ReuseChecked } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import { KeyedLock } from '../call/keyed-lock.ts';
import { ResultSeal } from '../secrets/result-seal.ts';
import type { Store } from '../storage/stores.ts';
import {
  argumentsOf,
  assertPassed,
  assertRefused,
  callOf,
  clock,
  sessionOf,
  toolOf,
  runStage,
} from './facts.test-kit.ts';
import { fingerprintOf, reuseResult } from './reuse-result.ts';
import { createTestSession, openSharedStore } from './store.test-kit.ts';
import { ownText } from '../call/redacted.ts';

const seal = new ResultSeal(randomBytes(32));

type Answer = (KeyHeld & ReuseChecked) | Refusal;

interface Asked {
  readonly args?: JsonObject;
  readonly tool?: string;
  readonly key?: string;
  readonly session?: string;
  readonly call?: Partial<Begun>;
  readonly idempotent?: boolean;
}

function factsOf({ args = { path: 'a' }, key = 'k', session = sessionOf().id, call, ...more }: Asked) {
  const { tool: name = 'notes.read', idempotent = false } = more;
  const begun = callOf({ dedupeKey: key, ...call });
  return { ...begun, ...argumentsOf(args), session: sessionOf({ id: session }), tool: toolOf({ name, idempotent }) };
}

function ask(store: Pick<Store, 'findDedupe'>, asked: Asked = {}, keys = new KeyedLock()): Promise<Answer> {
  return Promise.resolve(runStage(reuseResult(store, keys, seal), factsOf(asked), clock) as Promise<Answer>);
}

/** Admits a call with its key, as the later stages do, and ends it with this output, or without an outcome. */
async function runOnce(store: Store, session: string, callId: string, end?: { output?: Json }): Promise<void> {
  const intent = {
    kind: 'intent',
    result: 'none',
    timeMs: 1,
    callId,
    sessionId: session,
    payload: ownText('{}'),
  } as const;
  const dedupe = { key: 'k', argumentsSha256: fingerprintOf(factsOf({})), expiresAtMs: clock.nowMs() + 3_600_000 };
  const leaseId = store.findSession(session)?.lease.id ?? '';
  assert.ok(
    (
      await store.admit({
        sessionId: session,
        leaseId,
        basedOn: Number.MAX_SAFE_INTEGER,
        tool: 'files.read',
        intent,
        reservations: [],
        dedupe,
      })
    ).admitted,
  );
  const kept = end?.output === undefined ? {} : { sealedOutput: seal.seal(callId, end.output) };
  const settled = end === undefined ? {} : { dedupe: { sessionId: session, key: 'k', ...kept } };
  const result = end === undefined ? 'unknown' : end.output === undefined ? 'error' : 'ok';
  await store.settle({ outcome: { ...intent, kind: 'outcome', result }, ...settled });
}

const firstId = '01900000-0000-7000-8000-0000000000f1';

test('without a key nothing is looked up or held', async () => {
  const answer = assertPassed(await ask({ findDedupe: () => assert.fail('looked up') }, { key: '' }));
  assert.deepEqual([answer.releaseKey, answer.reused], [undefined, undefined]);
});

test('the same key with the same call returns the first success', async () => {
  requirement('PIPE-6');
  const store = await openSharedStore();
  const session = (await createTestSession(store)).id;
  const first = assertPassed(await ask(store, { session }));
  assert.equal(first.reused, undefined);
  await runOnce(store, session, firstId, { output: { lines: 3 } });
  const { reused } = assertPassed(await ask(store, { session }));
  assert.deepEqual({ ...reused }, { output: { lines: 3 }, callId: firstId, kept: undefined });
});

test('a success whose output is null is a success', async () => {
  const store = await openSharedStore();
  const session = (await createTestSession(store)).id;
  await runOnce(store, session, firstId, { output: null });
  assert.equal(assertPassed(await ask(store, { session })).reused?.output, null);
});

test('the same key with other arguments, or for another tool, is a conflict', async () => {
  requirement('PIPE-6');
  const store = await openSharedStore();
  const session = (await createTestSession(store)).id;
  await runOnce(store, session, firstId, { output: 'first' });
  for (const other of [{ args: { path: 'b' } }, { args: {} }, { tool: 'notes.delete' }]) {
    assertRefused(await ask(store, { session, ...other }), {
      code: 'DEDUPE_CONFLICT',
      rule: 'dedupe',
      remedy: 'Use a new key for a new call.',
    });
  }
  assert.equal(assertPassed(await ask(store, { session, key: 'another' })).reused, undefined);
});

test('a key belongs to its session', async () => {
  const store = await openSharedStore();
  const session = (await createTestSession(store)).id;
  await runOnce(store, session, firstId, { output: 'mine' });
  const other = (await createTestSession(store)).id;
  assert.equal(assertPassed(await ask(store, { session: other })).reused, undefined);
});

test('a failure is not kept: the call runs again', async () => {
  requirement('PIPE-6');
  const store = await openSharedStore();
  const session = (await createTestSession(store)).id;
  await runOnce(store, session, firstId, {});
  assert.equal(assertPassed(await ask(store, { session })).reused, undefined);
});

test('a call that was cut off leaves the key unknown', async () => {
  requirement('PIPE-6');
  const store = await openSharedStore();
  const session = (await createTestSession(store)).id;
  await runOnce(store, session, firstId);
  const refusal = assertRefused(await ask(store, { session }), {
    code: 'DEDUPE_UNKNOWN',
    rule: 'dedupe',
    remedy: 'Check whether the effect happened. If it must be done again, call with a new key.',
  });
  assert.ok(refusal.message.includes(firstId));
});

test('an idempotent tool may run again when the first call was cut off, with the same arguments', async () => {
  requirement('PIPE-6');
  const store = await openSharedStore();
  const session = (await createTestSession(store)).id;
  await runOnce(store, session, firstId);
  assert.equal(assertPassed(await ask(store, { session, idempotent: true })).reused, undefined);
  const other = await ask(store, { session, idempotent: true, args: { path: 'b' } });
  assert.equal((other as Refusal).code, 'DEDUPE_CONFLICT');
});

test('a key whose outcome could not be recorded counts as unknown, not as free', async () => {
  const entry = { key: 'k', argumentsSha256: fingerprintOf(factsOf({})), callId: firstId, expiresAtMs: Infinity };
  const answer = await ask({ findDedupe: async () => ({ ...entry, state: 'running' }) });
  assert.equal((answer as Refusal).code, 'DEDUPE_UNKNOWN');
});

test('duplicates that come at the same time run once: the others wait and get its result', async () => {
  requirement('PIPE-6');
  const store = await openSharedStore();
  const session = (await createTestSession(store)).id;
  const keys = new KeyedLock();
  let runs = 0;
  const callOnce = async (): Promise<Json> => {
    const { reused, releaseKey } = assertPassed(await ask(store, { session }, keys));
    if (reused === undefined) {
      runs++;
      await runOnce(store, session, firstId, { output: { run: runs } });
    }
    releaseKey?.();
    return reused?.output ?? { run: runs };
  };
  const outputs = await Promise.all(Array.from({ length: 20 }, callOnce));
  assert.equal(runs, 1);
  for (const output of outputs) assert.deepEqual(output, { run: 1 });
});

test('every refusal lets the next call with the key go on', async () => {
  const keys = new KeyedLock();
  const conflict = { key: 'k', argumentsSha256: 'other', callId: firstId, state: 'succeeded', expiresAtMs: 0 } as const;
  assert.equal(((await ask({ findDedupe: async () => conflict }, {}, keys)) as Refusal).code, 'DEDUPE_CONFLICT');
  assertPassed(await ask({ findDedupe: async () => undefined }, {}, keys));
});

test('a store that fails does not lock the key for ever', async () => {
  requirement('PIPE-2');
  const keys = new KeyedLock();
  await assert.rejects(ask({ findDedupe: () => assert.fail('disk') }, {}, keys), /disk/);
  assertPassed(await ask({ findDedupe: async () => undefined }, {}, keys));
});

test('a caller who goes away while waiting leaves, and those behind still wait their turn', async () => {
  const keys = new KeyedLock();
  const store = { findDedupe: async () => undefined };
  const first = assertPassed(await ask(store, {}, keys));
  const leaving = new AbortController();
  const second = ask(store, { call: { signal: leaving.signal } }, keys);
  let thirdWent = false;
  const third = ask(store, {}, keys).then((answer) => ((thirdWent = true), answer));
  leaving.abort();
  assertRefused(await second, { code: 'CANCELLED', rule: 'caller', remedy: undefined });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(thirdWent, false);
  first.releaseKey?.();
  assertPassed(await third);
});
