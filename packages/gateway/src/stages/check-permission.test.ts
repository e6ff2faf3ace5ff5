import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSettings } from '../call/organisation.ts';
import type { Organisation } from '../call/organisation.ts';
import { checkPermission } from './check-permission.ts';
import { assertRefused, clock, operator, sessionOf, toolOf, runStage } from './facts.test-kit.ts';

const organisation: Organisation = {
  settings: { ...defaultSettings, profile: 'team' },
  teams: [{ name: 'web' }],
  members: [{ kind: 'agent', name: 'ada', team: 'web', role: 'worker', addedAtMs: 0 }],
  permissions: [
    { level: 'team', subject: 'web', tools: 'shell.*', effect: 'revoked', by: 'olga', atMs: 0 },
    { level: 'agent', subject: 'ada', tools: 'git.*', effect: 'granted', by: 'olga', atMs: 0 },
  ],
};

const check = (tool: string, session = sessionOf({ agent: 'ada' })) =>
  runStage(
    checkPermission(() => organisation),
    { session, tool: toolOf({ name: tool }) },
    clock,
  );

test('a member goes on with what the organisation says about it', () => {
  assert.partialDeepStrictEqual(check('files.read'), {
    membership: { roles: ['worker'], teams: ['web'], profile: 'team' },
    organisation,
  });
  assert.partialDeepStrictEqual(check('git.commit'), {
    membership: { roles: ['worker'], teams: ['web'], toolGranted: true, profile: 'team' },
    organisation,
  });
});

test('what was taken away, and who is no member, is refused with what to do', () => {
  const refusal = assertRefused(check('shell.run'), {
    code: 'RULE_DENIES',
    rule: 'permission-revoked',
    remedy: 'Find another way.',
    forOperators: 'A director can grant it again with `sallyport grant add`.',
  });
  assert.equal(refusal.message, 'shell.run was revoked for team web.');
  assertRefused(check('files.read', sessionOf({ agent: 'eve' })), {
    code: 'RULE_DENIES',
    rule: 'not-a-member',
    remedy: undefined,
    forOperators: 'A director can add it with `sallyport agent add`.',
  });
});

test('people run the gate whatever was said about agents', () => {
  assert.partialDeepStrictEqual(check('shell.run', operator), { membership: {}, organisation });
});
