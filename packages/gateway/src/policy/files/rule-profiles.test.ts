import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeTool, world } from '../test-world.ts';
import { loadRules } from '../language/load-rules.ts';
import { readRuleFiles } from './rule-files.ts';
import { chooseProfile, ruleProfiles } from './rule-profiles.ts';
import type { RuleProfile } from './rule-profiles.ts';

const shipped = join(import.meta.dirname, '../../../../../config/governance');

function judge(profile: RuleProfile, tool: string, access: 'read' | 'write', more: object = {}): string {
  const rules = loadRules({ ...world, folder: shipped }, chooseProfile(readRuleFiles(shipped), profile));
  return rules.judge({
    tool: fakeTool(tool, { mutates: access === 'write', risk: access === 'write' ? 'medium' : 'low', ...more }),
    principal: 'agent',
    agent: 'ada',
    mode: 'NORMAL',
    resources: { paths: [{ path: `${world.workspace}/a.txt`, access }] },
    arguments: {},
  }).effect;
}

/** Without remarks, by id. */
function rulesOf(profile: RuleProfile): readonly (readonly [id: string, rule: string])[] {
  const [tools] = chooseProfile(readRuleFiles(shipped), profile);
  const text = new TextDecoder().decode(tools?.bytes).replaceAll(/^ *#.*$/gm, '');
  return text
    .split(/^ {2}- id: /m)
    .slice(1)
    .map((rule) => [rule.split('\n')[0] ?? '', rule] as const);
}

test('each profile is a set of rules that can be used, with its own answer to a change', () => {
  const answers = ruleProfiles.map((profile) => [
    judge(profile, 'files.read', 'read'),
    judge(profile, 'files.write', 'write'),
    judge(profile, 'files.delete', 'write', { risk: 'critical' }),
  ]);
  assert.deepEqual(answers, [
    ['allow', 'allow', 'require_approval'],
    ['allow', 'require_approval', 'require_approval'],
    ['allow', 'deny', 'deny'],
  ]);
});

test('the profile team lets programs run only where their limits are enforced', () => {
  const granting = rulesOf('team').filter(([id, rule]) => /^ +grants:/m.test(rule) || id === 'own-tools');
  assert.ok(granting.length >= 3);
  for (const [, rule] of granting) assert.match(rule, /grants: \{ exact_limits: true/);
});

test('a rule that is shipped one day is in a strict set only if somebody says that it only looks', () => {
  const opening = (profile: RuleProfile) =>
    rulesOf(profile)
      .filter(([, rule]) => !/^ +effect: deny$/m.test(rule))
      .map(([id]) => id);
  assert.ok(opening('personal').length > opening('strict').length);
  assert.deepEqual(
    opening('strict').filter((id) => !/read|look|machine-state|gate-itself|databases|own-content|plans/.test(id)),
    [],
  );
  const unasked = rulesOf('team').filter(([, rule]) => /^ +approval: waived/m.test(rule));
  assert.deepEqual(
    unasked.map(([id]) => id).filter((id) => !['own-content', 'plans'].includes(id) && !id.endsWith('-known')),
    [],
  );
});

test('the rules that close something are in every profile', () => {
  for (const profile of ruleProfiles) {
    const [tools] = chooseProfile(readRuleFiles(shipped), profile);
    const text = new TextDecoder().decode(tools?.bytes);
    for (const id of ['secrets', 'git-internals']) assert.match(text, new RegExp(`- id: ${id}\n`));
    assert.match(text, new RegExp(`of the profile ${profile}`));
  }
});
