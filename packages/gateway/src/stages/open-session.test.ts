import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { doors } from '../call/call.ts';
import type { Begun, Door, Opened } from '../call/call.ts';
import { isRefusal } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import {
  assertPassed,
  assertRefused,
  callOf,
  clock,
  nowMs,
  operator,
  parentOf,
  sessionOf,
  runStage,
} from './facts.test-kit.ts';
import { openSession } from './open-session.ts';
import { createTestSession, openTestStore } from './store.test-kit.ts';

const token = 'sp_token';

function open(session: Session, more: Partial<Begun> = {}): Opened | Refusal {
  const sessions = new Map([[hash('sha256', token), session]]);
  const stage = openSession({
    findSessionByToken: (tokenSha256) => sessions.get(tokenSha256),
    findSession: () => undefined,
    version: () => 7,
  });
  return runStage(stage, callOf({ credential: token, ...more }), clock) as Opened | Refusal;
}

test('a token opens its session', () => {
  const session = sessionOf();
  assert.partialDeepStrictEqual(assertPassed(open(session)), { session, basedOn: 7 });
});

test('no token, an empty one, an unknown one and the hash of a token all get the same answer', () => {
  const { credential: _, ...without } = callOf({ credential: token });
  const stage = openSession({ findSessionByToken: () => undefined, findSession: () => sessionOf(), version: () => 0 });
  const answers = [
    runStage(stage, without, clock) as Refusal,
    open(sessionOf(), { credential: '' }),
    open(sessionOf(), { credential: 'sp_other' }),
    open(sessionOf(), { credential: hash('sha256', token) }),
  ];
  for (const answer of answers) {
    assertRefused(answer, {
      code: 'UNAUTHENTICATED',
      rule: 'credential',
      remedy: 'Present the token of a live session as `Authorization: Bearer …`; an operator gives it to you.',
    });
    assert.deepEqual(answer, answers[0]);
  }
});

test('each kind of caller comes in at its own doors, and is told which they are', () => {
  const callers: [Session, readonly Door[], RegExp][] = [
    [sessionOf(), ['agent-socket', 'tcp'], /^Agents use the agent socket or TCP/],
    [{ ...operator, agent: 'operator' }, ['operator-socket'], /as the user who runs the daemon/],
    [{ ...operator, agent: 'ada' }, ['operator-socket', 'tcp'], /SALLYPORT_CREDENTIAL_FILE.*SALLYPORT_ADDRESS/],
    [{ ...operator, agent: 'ada', door: 'tcp' }, ['tcp'], /console/],
    [{ ...operator, agent: 'operator', door: 'tcp' }, ['tcp'], /console/],
    // The name alone opens nothing: it belongs to an agent here.
    [sessionOf({ agent: 'operator' }), ['agent-socket', 'tcp'], /^Agents/],
  ];
  for (const [session, accepted, remedy] of callers) {
    for (const door of doors) {
      const answer = open(session, { door });
      if (accepted.includes(door)) assertPassed(answer);
      else {
        assert.ok(isRefusal(answer) && answer.code === 'WRONG_DOOR', door);
        assert.equal(answer.rule.id, 'credential');
        assert.match(answer.remedy ?? '', remedy);
      }
    }
  }
});

const newSession = 'Ask the operator for a new session.';

test('an ended session is closed, even when its time is not up', () => {
  const answer = open(sessionOf({ status: 'ended', expiresAtMs: nowMs + 1 }));
  assertRefused(answer, { code: 'SESSION_ENDED', rule: 'session', remedy: newSession });
});

test('a session is open until the millisecond at which it expires', () => {
  assertPassed(open(sessionOf({ expiresAtMs: nowMs + 1 })));
  for (const expiresAtMs of [nowMs, nowMs - 1]) {
    const answer = open(sessionOf({ expiresAtMs }));
    assertRefused(answer, { code: 'SESSION_EXPIRED', rule: 'session', remedy: newSession });
  }
});

test('what the store has ended is refused at the next call', async (t) => {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const stage = openSession(store);
  const call = callOf({ credential: session.id });
  assert.equal(assertPassed(runStage(stage, call, clock) as Opened | Refusal).session.id, session.id);
  await store.endSession(session.id);
  assertRefused(runStage(stage, call, clock), { code: 'SESSION_ENDED', rule: 'session', remedy: newSession });
});

test('a step is the call of its parent, as the session of that is now', async (t) => {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const stage = openSession(store);
  const run = (sessionId: string) => {
    const step = { id: 'read', parent: parentOf({ sessionId }) };
    return runStage(stage, { ...callOf(), step }, clock) as Opened | Refusal;
  };
  assert.equal(assertPassed(run(session.id)).session.id, session.id);
  assertRefused(run('nobody'), { code: 'SESSION_ENDED', rule: 'session', remedy: newSession });
  await store.endSession(session.id);
  assertRefused(run(session.id), { code: 'SESSION_ENDED', rule: 'session', remedy: newSession });
});
