import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { Judged } from '../call/call.ts';
import type { Question, Rules, Verdict } from '../call/verdict.ts';
import {
  allow,
  argumentsOf,
  askFirst,
  assertPassed,
  assertRefused,
  clock,
  rulesOf,
  sessionOf,
  toolOf,
  runStage,
} from './facts.test-kit.ts';
import { judgeCall } from './judge-call.ts';

const facts = { ...argumentsOf(), session: sessionOf(), tool: toolOf(), membership: {}, mode: 'ALERT' as const };
const ignore = (): void => undefined;
const noHistory = { of: () => assert.fail('no rule looks at it') };

function judge(rules: Rules) {
  return runStage(
    judgeCall(() => rules, noHistory, ignore),
    facts,
    clock,
  );
}

test('the rules are asked about tool, caller, mode, time, arguments and what the call touches', () => {
  const questions: Question[] = [];
  void judge(rulesOf({ judge: (question) => (questions.push(question), allow) }));
  assert.deepEqual(questions, [
    {
      tool: facts.tool.definition,
      principal: 'agent',
      agent: 'ada',
      mode: 'ALERT',
      resources: { paths: [] },
      arguments: facts.arguments.value,
      roles: undefined,
      teams: undefined,
      toolGranted: undefined,
      profile: undefined,
      history: undefined,
      nowMs: clock.nowMs(),
    },
  ]);
});

test('what the rules allow, or want a person for, goes on with the verdict and the rules that gave it', () => {
  for (const verdict of [allow, askFirst]) {
    const rules = rulesOf({ judge: () => verdict });
    const { rules: asked, verdict: given } = assertPassed(judge(rules) as Judged);
    assert.deepEqual([asked, given], [rules, verdict]);
  }
});

test('a denial carries its rule with file and line, its code, its reason and its remedy', () => {
  requirement('PIPE-4');
  const rule = { id: 'no-ssh', file: 'tools.yaml', line: 12 };
  const deny: Verdict = { effect: 'deny', rule, reason: 'Keys stay here.', remedy: 'Use git.', code: 'NO_RULE_ALLOWS' };
  const refusal = assertRefused(judge(rulesOf({ judge: () => deny })), {
    code: 'NO_RULE_ALLOWS',
    rule: 'no-ssh',
    remedy: 'Use git.',
  });
  assert.deepEqual(refusal.rule, rule);
  assert.equal(refusal.message, 'Keys stay here.');
});

test('a denial without code and remedy is RULE_DENIES without remedy', () => {
  const deny: Verdict = { effect: 'deny', rule: { id: 'no' }, reason: 'No.' };
  const refusal = assertRefused(judge(rulesOf({ judge: () => deny })), {
    code: 'RULE_DENIES',
    rule: 'no',
    remedy: undefined,
  });
  assert.ok(!('remedy' in refusal));
});

test('rules that fail, or that are not there, deny, and the operator can find out why', () => {
  requirement('PIPE-2');
  const failing = rulesOf({ judge: () => assert.fail('a broken rule with secret inside') });
  for (const currentRules of [() => failing, () => assert.fail('no rules')]) {
    const reported: unknown[] = [];
    const stage = judgeCall(currentRules, noHistory, (error) => reported.push(error));
    const refusal = assertRefused(runStage(stage, facts, clock), {
      code: 'RULE_DENIES',
      rule: 'rule-failed',
      remedy: undefined,
      forOperators: 'The daemon log says why.',
    });
    assert.ok(!refusal.message.includes('secret'));
    assert.equal(reported.length, 1);
  }
});

test('rules that ask what the session did before are told', async () => {
  const past = [{ tool: 'web.fetch', startedAtMs: 7 }];
  const questions: Question[] = [];
  const rules = rulesOf({ looksAtHistory: true, judge: (question) => (questions.push(question), allow) });
  const asked: string[] = [];
  const history = { of: async (id: string) => (asked.push(id), past) };
  await runStage(
    judgeCall(() => rules, history, ignore),
    facts,
    clock,
  );
  assert.deepEqual([asked, questions[0]?.history], [[facts.session.id], past]);
});
