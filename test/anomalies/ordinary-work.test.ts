import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallFact } from '../../packages/gateway/src/anomalies/call-fact.ts';
import { factOf, watching } from '../../packages/gateway/src/anomalies/anomalies.test-kit.ts';
import { personalAnomalies, teamAnomalies } from '../../packages/gateway/src/policy/language/read-anomalies.ts';
import { howMuch } from '../harness/how-much.ts';
import { personal, seeded, team, workDay } from './ordinary-work.ts';

const agents = howMuch({ usually: 12, long: 200 });
const inOrder = (facts: readonly CallFact[]) => facts.toSorted((a, b) => a.atMs - b.atMs);

for (const [profile, policy, fewest] of [
  [personal, personalAnomalies, 1500],
  [team, teamAnomalies, 300],
] as const) {
  test(`a day of ordinary work under the profile ${profile.name} raises nothing`, async (t) => {
    const days = Array.from({ length: agents }, (_, at) => [...workDay(`agent-${at}`, profile, seeded(at + 1))]);
    const calls = days.map((day) => day.length);
    assert.ok(Math.min(...calls) > fewest, `hardly any work was done: ${calls.join(' ')}`);
    const { watch, raised, note } = watching(policy);
    for (const fact of inOrder(days.flat())) note(fact);
    await watch.settle();
    t.diagnostic(`${agents} agents, ${Math.min(...calls)} to ${Math.max(...calls)} calls each`);
    assert.deepEqual(raised, []);
  });

  test(`what is put into such a day under the profile ${profile.name} is found, once each`, async () => {
    const day = [...workDay('ada', profile, seeded(99))];
    const spike = Array.from({ length: 2000 }, (_, at) => factOf(2 * 3_600_000 + at * 100, { agent: 'ada' }));
    const failing = { agent: 'ada', failed: true, result: 'NOT_FOUND' } as const;
    const failures = Array.from({ length: 25 }, (_, at) => factOf(5 * 3_600_000 + at * 300, failing));
    const sign = { agent: 'ada', sign: 'administration', result: 'UNKNOWN_TOOL' } as const;
    const { watch, raised, note } = watching(policy);
    note(...inOrder([...day, ...spike, ...failures, factOf(7 * 3_600_000, sign)]));
    await watch.settle();
    assert.deepEqual(
      raised.map((each) => each.split(' ')[1]),
      ['call_spike', 'repeated_failures', 'permission_escalation'],
    );
  });
}
