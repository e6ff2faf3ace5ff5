import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modes } from '../../call/session.ts';
import { ask, fakeTool, rulesOf } from '../test-world.ts';

const change = { risk: 'medium', mutates: true, audience: 'operator', allowedModes: modes, scopes: [] } as const;
const createSession = fakeTool('sessions.create', change);
const applyRules = fakeTool('policy.apply', change);
const byOperator = { principal: 'operator', agent: 'operator' } as const;

test('operators run the gate under every set of rules, also an empty one, in every mode', () => {
  for (const rules of [rulesOf('  []'), rulesOf('  - { id: read, effect: allow, tools: [files.read] }')]) {
    for (const mode of modes) {
      const asked = { ...byOperator, mode };
      assert.deepEqual(rules.judge(ask(createSession, [], asked)).effect, 'allow');
      const { effect, rule } = rules.judge(ask(applyRules, [], asked));
      assert.deepEqual([effect, rule], ['require_approval', { id: 'operator-policy' }]);
    }
    assert.equal(rules.judge(ask(createSession, [])).effect, 'deny', 'not for agents');
    assert.equal(rules.judge(ask('files.write', ['write /a'], byOperator)).effect, 'deny', 'not for other tools');
    const foreign = { ...createSession, origin: 'upstream' } as const;
    assert.equal(rules.judge(ask(foreign, [], byOperator)).effect, 'deny', 'not for a tool that took the name');
  }
});

test('a rule can narrow what operators may do, and a copy of an older shipped file loads', () => {
  const rules = rulesOf(`
  - { id: no-secrets, effect: deny, tools: ['secrets.*'], who: [operator] }
  - { id: operator-sessions, effect: allow, tools: ['sessions.*', 'mode.*'], who: [operator], approval: waived }`);
  assert.equal(rules.judge(ask(fakeTool('secrets.set', change), [], byOperator)).rule.id, 'no-secrets');
  const asked = ask(createSession, [], byOperator);
  assert.equal(rules.judge(asked).rule.line, 5, 'the rule of the file is named first');
  const deciding = rules.explain(asked).considered.filter(({ decides }) => decides);
  assert.deepEqual(
    deciding.map(({ rule }) => rule.line),
    [5],
  );
});
