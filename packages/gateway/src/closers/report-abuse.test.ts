import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Abuse } from '../call/anomaly.ts';
import { refuse } from '../call/refusal.ts';
import type { Ending } from '../call/stage.ts';
import type { Session } from '../call/session.ts';
import { operator, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { factsOf } from './ending.test-kit.ts';
import type { CallFacts } from '../call/call.ts';
import { reportAbuse } from './report-abuse.ts';

function limited(session = sessionOf(), code: 'RATE_LIMITED' | 'RULE_DENIES' = 'RATE_LIMITED'): Ending<CallFacts> {
  const call = factsOf({ session, tool: toolOf({ name: 'files.read' }) });
  return { kind: 'refused', stage: 'admit-call', call, refusal: refuse(code, 'rate-limit-60s', 'Too many.') };
}

function reporting() {
  const reported: Abuse[] = [];
  const standing = { status: 'active' as Session['status'] };
  const closer = reportAbuse({
    report: async (abuse) => void reported.push(abuse),
    findSession: () => standing,
  });
  const run = async (ending: Ending<CallFacts>, times: number, nowMs = 0): Promise<void> => {
    for (let time = 0; time < times; time++) await closer.run(ending, { nowMs: () => nowMs });
  };
  return { reported, standing, run };
}

test('a session that goes on against its limits is reported, and again only after ten quiet minutes', async () => {
  const { reported, run } = reporting();
  await run(limited(), 9);
  assert.deepEqual(reported, []);
  await run(limited(), 50);
  const expected = {
    ...{ kind: 'limits_ignored', agent: 'ada' },
    ...{ tool: 'files.read', rule: 'rate-limit-60s', refusals: 10 },
  };
  assert.deepEqual(reported, [{ sessionId: sessionOf().id, ...expected }]);
  await run(limited(), 9, 600_000);
  assert.equal(reported.length, 1);
  await run(limited(), 1, 600_000);
  assert.equal(reported.length, 2);
});

test('sessions are counted apart, other refusals and operators not at all', async () => {
  const { reported, run } = reporting();
  await run(limited(), 9);
  await run(limited(sessionOf({ id: 'another' })), 9);
  await run(limited(sessionOf(), 'RULE_DENIES'), 20);
  await run(limited(operator), 20);
  assert.deepEqual(reported, []);
});

test('refusals without a pause are one episode, and refusals far apart are not an episode', async () => {
  const { reported, run } = reporting();
  for (let minute = 0; minute < 120; minute++) await run(limited(), 1, minute * 60_000);
  assert.equal(reported.length, 1);
  const apart = reporting();
  for (let minute = 0; minute < 600; minute += 2) await apart.run(limited(), 1, minute * 60_000);
  assert.deepEqual(apart.reported, []);
});

test('a session that was put into quarantine is reported once, with the call that did it', async () => {
  const { reported, standing, run } = reporting();
  await run(limited(sessionOf(), 'RULE_DENIES'), 5);
  assert.deepEqual(reported, []);
  standing.status = 'quarantined';
  await run(limited(sessionOf(), 'RULE_DENIES'), 5);
  assert.deepEqual(
    reported.map(({ kind, agent, tool, rule }) => [kind, agent, tool, rule]),
    [['session_quarantined', 'ada', 'files.read', 'rate-limit-60s']],
  );
});
