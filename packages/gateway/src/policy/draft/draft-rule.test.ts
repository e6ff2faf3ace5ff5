import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { ConfigError } from '../../call/fault.ts';
import type { Question } from '../../call/verdict.ts';
import { ask, fakeTool, rulesOf } from '../test-world.ts';
import { draftRules } from './draft-rule.ts';
import { listScopes } from './rule-scopes.ts';

const work = '/home/ada/work';

function commit(args: JsonObject): Question {
  const tool = fakeTool('git.commit', { risk: 'medium', mutates: true });
  const asked = ask(tool, [`write ${work}`], { arguments: args });
  return { ...asked, resources: { ...asked.resources, gitOperation: 'commit' } };
}

function draft(question: Question): string {
  const [scope] = listScopes(question, work);
  return draftRules(question, () => 'always', scope)
    .join('')
    .replaceAll(/^/gm, '  ');
}

test('a rule for git covers what git opens in its folder, and only the same arguments', () => {
  const asked = commit({ args: ['-m', 'x'] });
  const rules = rulesOf(draft(asked));
  assert.equal(rules.judge(asked).effect, 'allow');
  assert.equal(rules.judge(commit({ args: ['-m', 'x', '--amend'] })).effect, 'deny');
  assert.equal(rules.judge(commit({ args: [] })).effect, 'deny');
  const { judge } = rules.judgePaths({ ...asked, consented: false });
  for (const access of ['read', 'write'] as const) {
    assert.equal(judge(`${work}/.git/index`, access), undefined, access);
    assert.equal(judge(`${work}-other/.git/index`, access)?.code, 'NO_RULE_ALLOWS', access);
  }
});

test('an argument that no rule can name is said to be one', () => {
  assert.throws(
    () => draft(commit({ args: [], options: { force: true } })),
    (error) => error instanceof ConfigError && /options is a mapping.*by hand/.test(error.message),
  );
});
