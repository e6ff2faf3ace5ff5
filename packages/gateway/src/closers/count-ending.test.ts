import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import { CallGauge } from '../modes/call-gauge.ts';
import { clock, operator, sessionOf, toolOf } from '../stages/facts.test-kit.ts';
import { countEnding } from './count-ending.ts';
import { completed, factsOf, failed } from './ending.test-kit.ts';

test('errors, violations and risky calls of agents are counted, and of nobody else', async () => {
  const gauge = new CallGauge();
  const closer = countEnding(gauge);
  const risky = toolOf({ risk: 'high' });
  const denied = (code: 'RULE_DENIES' | 'RATE_LIMITED', session = sessionOf()) =>
    ({ kind: 'refused', stage: 'judge-call', call: factsOf({ session }), refusal: refuse(code, 'r', 'No.') }) as const;
  const endings = [
    ...Array.from({ length: 15 }, () => completed()),
    completed({ tool: risky }),
    ...Array.from({ length: 5 }, () => failed(new ToolFailure('EXECUTION_ERROR', 'It failed.'))),
    denied('RULE_DENIES'),
    denied('RATE_LIMITED'),
    denied('RULE_DENIES', operator),
    completed({ tool: risky, session: operator }),
    failed(new ToolFailure('EXECUTION_ERROR', 'It failed.'), { session: operator }),
  ];
  for (const ending of endings) await closer.run(ending, clock);
  assert.deepEqual(gauge.read(clock.nowMs()), {
    errorPercent: (100 * 5) / 23,
    violationsPerMinute: 1,
    highRiskPerMinute: 1,
  });
});
