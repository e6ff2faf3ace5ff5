import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CallFact } from '../../packages/gateway/src/anomalies/call-fact.ts';
import {
  definitionNamed,
  factOf,
  KeptAnomalies,
  watching,
} from '../../packages/gateway/src/anomalies/anomalies.test-kit.ts';
import { teamAnomalies } from '../../packages/gateway/src/policy/language/read-anomalies.ts';
import { howMuch } from '../harness/how-much.ts';

const definitions = new Map(
  ['files.read', 'files.write', 'files.edit', 'files.delete', 'files.list', 'permissions.grant', 'shell.run'].map(
    (name) => [name, definitionNamed(name)],
  ),
);
type Step = Partial<CallFact>;
const use = (tool: string): Step => ({ tool, definition: definitions.get(tool) });
const failing: Step = { ...use('files.list'), failed: true, result: 'NOT_FOUND' };
const outside: Step = { ...use('files.list'), sign: 'lease', result: 'OUTSIDE_LEASE' };
const times = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step);

/** What an agent does in a few minutes, and which detector has to see it. */
const stretch = fc.oneof(
  fc.integer({ min: 1, max: 30 }).map((count) => ({ steps: times(count, use('files.read')), seen: undefined })),
  fc.record({ ok: fc.integer({ min: 0, max: 2 }), bad: fc.integer({ min: 1, max: 7 }) }).map(({ ok, bad }) => ({
    steps: [...times(ok, use('files.read')), ...times(bad, failing)],
    seen: undefined,
  })),
  fc.integer({ min: 1, max: 4 }).map((count) => ({ steps: times(count, outside), seen: undefined })),
  fc.integer({ min: 51, max: 150 }).map((count) => ({ steps: times(count, use('files.read')), seen: 'call_spike' })),
  fc.integer({ min: 8, max: 30 }).map((count) => ({ steps: times(count, failing), seen: 'repeated_failures' })),
  fc.integer({ min: 5, max: 20 }).map((count) => ({ steps: times(count, outside), seen: 'permission_escalation' })),
  fc.constant({
    steps: [{ ...use('files.list'), sign: 'other_token' as const }],
    seen: 'permission_escalation other_token',
  }),
  fc
    .tuple(
      fc.shuffledSubarray(['files.read', 'files.write', 'files.delete'], { minLength: 3 }),
      fc.integer({ max: 2, min: 0 }),
    )
    .map(([tools, between]) => ({
      steps: [use(tools[0] ?? ''), ...times(between, use('files.list')), use(tools[1] ?? ''), use(tools[2] ?? '')],
      seen: 'suspicious_combination read-write-delete',
    })),
  fc.shuffledSubarray(['permissions.grant', 'shell.run'], { minLength: 2 }).map((tools) => ({
    steps: tools.map(use),
    seen: 'suspicious_combination grant-and-run',
  })),
);

/** Between stretches it is quiet for longer than an episode lasts. */
const spacingMs = 20 * 60_000;
const cleared = times(10, use('files.list'));

const day = fc.array(
  fc.record({ stretches: fc.array(stretch, { minLength: 1, maxLength: 6 }), offsetMs: fc.nat(spacingMs) }),
  { minLength: 1, maxLength: 8 },
);

test('whatever agents do at the same time, every episode is found once, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(day, fc.option(fc.double({ min: 0, max: 1, noNaN: true })), async (agents, restartAt) => {
      const expected: string[] = [];
      const facts = agents.flatMap(({ stretches, offsetMs }, number) =>
        stretches.flatMap(({ steps, seen }, place) => {
          const agent = `agent-${number}`;
          const fromMs = offsetMs + place * spacingMs;
          if (seen !== undefined) expected.push(`${agent} ${seen} ${place}`);
          // All within two minutes, after calls that end what came before.
          return [...cleared, ...steps].map((step, at) => factOf(fromMs + at * 750, { ...step, agent }));
        }),
      );
      facts.sort((a, b) => a.atMs - b.atMs);
      const kept = new KeptAnomalies();
      const before = watching(teamAnomalies, kept);
      // With a restart in the middle, what had begun goes on, and what begins is found.
      const cut = facts.length - 1;
      const first = restartAt === null ? facts : facts.filter((_, at) => at <= restartAt * cut);
      before.note(...first);
      await before.watch.close();
      const after = watching(teamAnomalies, kept);
      after.world.nowMs = facts[first.length]?.atMs ?? before.world.nowMs;
      await after.watch.start();
      after.note(...facts.slice(first.length));
      await after.watch.close();
      const found = [...before.raised, ...after.raised].map((each) => {
        const [agent = '', ...rest] = each.split(' ');
        const place = (Number(rest.at(-1)) - (agents[Number(agent.slice(6))]?.offsetMs ?? 0)) / spacingMs;
        return `${agent} ${rest.slice(0, -1).join(' ')} ${Math.floor(place)}`;
      });
      assert.equal(new Set(found).size, found.length, 'nothing alerts twice');
      // A stretch that a restart cuts in two may hold too little in each part.
      const whole = restartAt === null ? expected : expected.filter((each) => found.includes(each));
      assert.deepEqual(found.toSorted(), whole.toSorted());
      assert.ok(restartAt === null || expected.length - whole.length <= agents.length);
    }),
    { numRuns: howMuch({ usually: 150, long: 5000 }) },
  );
});
