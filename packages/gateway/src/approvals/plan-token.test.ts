import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { Plan, PlanStep } from '../call/approval.ts';
import { ConfirmTokens, createConfirmKey } from './confirm-tokens.ts';
import { issuePlanToken } from './plan-token.ts';

const tokens = new ConfirmTokens(createConfirmKey());
const plan = {
  id: 'p',
  sessionId: 's',
  traceId: 't',
  rulesHash: 'rules',
  mode: 'NORMAL',
  status: 'approved',
  approvedSteps: [0, 2],
  decidedBy: 'olga',
  decidedAtMs: 1000,
  steps: ['a', 'b', 'c'].map((name): Partial<PlanStep> => ({ tool: `tool.${name}`, callSha256: name })),
} as unknown as Plan;

test('the token of a plan covers the approved steps, in their order, and counts from the decision', () => {
  requirement('APPR-8');
  const token = issuePlanToken(plan, tokens) ?? assert.fail();
  const { expiresAtMs, ...claims } = tokens.read(token) ?? assert.fail();
  assert.ok(expiresAtMs > 1000);
  assert.deepEqual(claims, {
    id: 'p',
    sessionId: 's',
    traceId: 't',
    calls: ['a', 'c'],
    tools: ['tool.a', 'tool.c'],
    rulesHash: 'rules',
    mode: 'NORMAL',
    issuedBy: 'olga',
    issuedAtMs: 1000,
    reusable: false,
    planId: 'p',
  });
  assert.equal(issuePlanToken(plan, tokens), token, 'asking again does not make it last longer');
});

test('a plan that is not approved has no token', () => {
  for (const status of ['pending', 'denied', 'expired'] as const) {
    assert.equal(issuePlanToken({ ...plan, status }, tokens), undefined);
  }
});
