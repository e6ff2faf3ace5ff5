import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { ApprovalTask } from '../call/approval.ts';
import { explainTerms, standingOf } from './standing-terms.ts';
import type { StandingTerms } from './standing-terms.ts';

const good = (terms: StandingTerms, risk: ApprovalTask['risk']) => explainTerms(terms, { risk }) === undefined;

test('low and medium risk are approved for the session, or for hours and one scope', () => {
  requirement('APPR-9');
  for (const risk of ['low', 'medium'] as const) {
    assert.ok(good({ forSession: true }, risk));
    assert.ok(good({ forSession: true, uses: 3 }, risk));
    assert.ok(good({ minutes: 480 }, risk));
    assert.ok(!good({ minutes: 481 }, risk));
  }
});

test('high risk needs an exact scope, a number of uses and at most 15 minutes; critical is one at a time', () => {
  requirement('APPR-9');
  assert.ok(good({ minutes: 15, uses: 1 }, 'high'));
  assert.ok(!good({ minutes: 16, uses: 1 }, 'high'));
  assert.ok(!good({ minutes: 15 }, 'high'));
  assert.ok(!good({ forSession: true, uses: 1 }, 'high'));
  for (const terms of [{ forSession: true }, { minutes: 1, uses: 1 }]) assert.ok(!good(terms, 'critical'));
});

test('what says neither or both is unclear', () => {
  for (const terms of [{}, { uses: 3 }, { forSession: false }, { forSession: true, minutes: 5 }]) {
    assert.match(explainTerms(terms, { risk: 'low' }) ?? '', /either .* or/);
  }
});

test('for minutes it holds for what the call touches, for the session for whatever the tool touches', () => {
  const asked = { rulesHash: 'rules', mode: 'NORMAL', askedBy: ['asks'] } as const;
  const task = {
    ...{ sessionId: 's', agent: 'ada', tool: 'files.write', scopeSha256: 'scope', risk: 'low' },
    ...asked,
  } as unknown as ApprovalTask;
  const given = { by: 'olga', atMs: 1000 };
  const { id, ...forMinutes } = standingOf({ minutes: 5, uses: 2 }, task, given);
  assert.notEqual(id, '');
  assert.deepEqual(forMinutes, {
    sessionId: 's',
    agent: 'ada',
    tool: 'files.write',
    scopeSha256: 'scope',
    risk: 'low',
    ...asked,
    grantedBy: 'olga',
    grantedAtMs: 1000,
    expiresAtMs: 301_000,
    usesLeft: 2,
  });
  const forSession = standingOf({ forSession: true }, task, given);
  assert.deepEqual([forSession.scopeSha256, forSession.usesLeft], [undefined, undefined]);
  assert.equal(forSession.expiresAtMs, 1000 + 8 * 3_600_000);
});
