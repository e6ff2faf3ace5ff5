import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePhases } from './describe-phases.ts';

const passed = { beganAtMs: 100, passedAtMs: 100.4 };

test('the time of a call is divided where one part of it ends and the next begins', () => {
  assert.deepEqual(describePhases({ ...passed, confirmedAtMs: 102, ranUntilMs: 110 }, 110.25), {
    ...{ gates: 400, log: 1600, tool: 8000, result: 250 },
  });
  const slowStages = [{ name: 'admit-call', fromMs: 100.5, toMs: 102 }];
  const phases = describePhases({ ...passed, confirmedAtMs: 102, ranUntilMs: 110, slowStages }, 110);
  assert.deepEqual((phases as { readonly slow: object }).slow, { 'admit-call': 1500 });
});

test('a call that ended on the way has the time up to there, and none that nobody measured', () => {
  assert.deepEqual(describePhases(passed, 103), { gates: 400, log: 2600 });
  // The tool never came back.
  assert.deepEqual(describePhases({ ...passed, confirmedAtMs: 102 }, 105), {
    ...{ gates: 400, log: 1600, tool: 3000, result: 0 },
  });
  assert.equal(describePhases({ beganAtMs: 100 }, 103), undefined);
  assert.equal(describePhases({}, 103), undefined);
});

test('a kept result takes no tool', () => {
  const reused = { callId: 'a', output: 1 } as const;
  assert.deepEqual(describePhases({ ...passed, confirmedAtMs: 102, reused }, 103), {
    ...{ gates: 400, log: 1600, tool: 0, result: 1000 },
  });
});
