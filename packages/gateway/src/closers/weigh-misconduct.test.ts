import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codes } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import { refuse } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import { operator, sessionOf } from '../stages/facts.test-kit.ts';
import { completed, failed, faulted, refused } from './ending.test-kit.ts';
import { weighMisconduct } from './weigh-misconduct.ts';

const limits = { at: 10, windowMs: 60_000, weights: { denied: 3, error: 5, timeout: 7 } } as const;

const refusedWith = (code: Code) => refused(refuse(code, 'rule', 'No.'), 'judge-call', { session: sessionOf() });
const failedWith = (code: Code) => failed(new ToolFailure(code, 'It went wrong.'));

const refusals: Partial<Record<Code, number>> = {
  RULE_DENIES: 3,
  NO_RULE_ALLOWS: 3,
  OUTSIDE_LEASE: 3,
  PROTECTED_PATH: 3,
  UNSAFE_PATH: 3,
  UNKNOWN_TOOL: 3,
  INVALID_ARGUMENTS: 3,
  MALFORMED_ARGUMENTS: 3,
  MODE_FORBIDS: 0,
  CALL_REPEATED: 3,
  APPROVAL_REQUIRED: 0,
  APPROVAL_MISMATCH: 0,
  STANDING_CHANGED: 0,
  CANCELLED: 0,
  RATE_LIMITED: 0,
  TOO_MANY_CALLS: 0,
  BUDGET_EXCEEDED: 0,
  DISK_NEARLY_FULL: 0,
  SEALED: 0,
  STOPPING: 0,
};

for (const [code, weight] of Object.entries(refusals) as [Code, number][]) {
  test(`a refusal with ${code} weighs ${weight}`, () => {
    requirement('PERM-5');
    assert.equal(weighMisconduct(refusedWith(code), limits)?.weight ?? 0, weight);
  });
}

const failures: Partial<Record<Code, number>> = {
  TIMEOUT: 7,
  NOT_FOUND: 5,
  EXECUTION_ERROR: 5,
  INVALID_RESULT: 5,
  CANCELLED: 0,
  EFFECT_UNKNOWN: 0,
};

for (const [code, weight] of Object.entries(failures) as [Code, number][]) {
  test(`a tool that fails with ${code} weighs ${weight}`, () => {
    requirement('PERM-5');
    assert.equal(weighMisconduct(failedWith(code), limits)?.weight ?? 0, weight);
  });
}

test('a success and a fault of the gate weigh nothing', () => {
  assert.equal(weighMisconduct(completed(), limits), undefined);
  assert.equal(weighMisconduct(faulted(new Error('bug'), 'judge-call', { session: sessionOf() }), limits), undefined);
});

test('what weighs something names the session and the limits of the moment', () => {
  assert.deepEqual(weighMisconduct(refusedWith('RULE_DENIES'), limits), {
    sessionId: sessionOf().id,
    weight: 3,
    limit: 10,
    windowMs: 60_000,
  });
});

test('nothing an operator does is weighed, nor what a stranger does', () => {
  requirement('PERM-5');
  for (const code of Object.keys(codes) as Code[]) {
    for (const call of [{ session: operator }, {}]) {
      assert.equal(weighMisconduct(refused(refuse(code, 'rule', 'No.'), 'judge-call', call), limits), undefined);
    }
    const failure = failed(new ToolFailure(code, 'It went wrong.'), { session: operator });
    assert.equal(weighMisconduct(failure, limits), undefined);
  }
});

test('a weight of zero turns a kind of misconduct off', () => {
  const off = { ...limits, weights: { denied: 0, error: 0, timeout: 0 } };
  for (const ending of [refusedWith('RULE_DENIES'), failedWith('TIMEOUT'), failedWith('NOT_FOUND')]) {
    assert.equal(weighMisconduct(ending, off), undefined);
  }
});
