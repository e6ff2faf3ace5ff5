import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '../model/refusal.ts';
import type { Ending } from '../pipeline/stage.ts';
import { operator, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { factsOf } from './ending.test-kit.ts';
import type { CallFacts } from './facts.ts';
import { reportAbuse } from './report-abuse.ts';
import type { Abuse } from './report-abuse.ts';

function limited(session = sessionOf(), code: 'RATE_LIMITED' | 'RULE_DENIES' = 'RATE_LIMITED'): Ending<CallFacts> {
  const call = factsOf({ session, tool: toolOf({ name: 'files.read' }) });
  return { kind: 'refused', stage: 'admit-call', call, refusal: refuse(code, 'rate-limit-60s', 'Too many.') };
}

function reporting() {
  const reported: Abuse[] = [];
  const closer = reportAbuse({ report: async (abuse) => void reported.push(abuse) });
  const run = async (ending: Ending<CallFacts>, times: number, nowMs = 0): Promise<void> => {
    for (let time = 0; time < times; time++) await closer.run(ending, { nowMs: () => nowMs });
  };
  return { reported, run };
}

test('a session that goes on against its limits is reported once in ten minutes', async () => {
  const { reported, run } = reporting();
  await run(limited(), 9);
  assert.deepEqual(reported, []);
  await run(limited(), 50);
  const expected = { agent: 'ada', tool: 'files.read', rule: 'rate-limit-60s', refusals: 10 };
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
