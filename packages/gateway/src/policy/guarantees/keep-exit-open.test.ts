import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modes } from '../../call/session.ts';
import { ask, fakeTool, rulesOf } from '../test-world.ts';

const setMode = fakeTool('mode.set', { risk: 'medium', mutates: true, audience: 'operator', allowedModes: modes });
const showMode = fakeTool('mode.show', { audience: 'operator', allowedModes: modes });
const inLockdown = { principal: 'operator', mode: 'LOCKDOWN' } as const;

const applyRules = fakeTool('policy.apply', { risk: 'medium', mutates: true, audience: 'operator', scopes: [] });
const closed = rulesOf("  - { id: freeze, effect: deny, tools: ['*'] }");

test('a person can leave LOCKDOWN and RECOVERY whatever the rules closed', () => {
  const freezing = rulesOf("  - { id: freeze, effect: deny, tools: ['*'], modes: [LOCKDOWN, RECOVERY] }");
  for (const rules of [freezing, closed]) {
    for (const mode of ['LOCKDOWN', 'RECOVERY'] as const) {
      const verdict = rules.judge(ask(setMode, [], { principal: 'operator', mode }));
      assert.deepEqual([verdict.effect, verdict.rule.id], ['require_approval', 'operator-leaves-lockdown']);
      assert.equal(rules.judge(ask(showMode, [], { principal: 'operator', mode })).effect, 'allow');
      assert.equal(rules.mayOpen(ask(setMode, [], { principal: 'operator', mode })), true);
    }
  }
});

test('nothing else comes through the exit: no agent, no other tool, no other mode, no tool that took the name', () => {
  const foreign = { ...setMode, origin: 'upstream' } as const;
  const own = { principal: 'operator', agent: 'operator' } as const;
  for (const question of [
    ask(setMode, [], { ...inLockdown, principal: 'agent' }),
    ask(fakeTool('files.write'), ['/a'], inLockdown),
    ask(fakeTool('mode.set.other'), [], inLockdown),
    ask(foreign, [], inLockdown),
    ask(setMode, [], { ...inLockdown, mode: 'NORMAL' }),
    ask(applyRules, [], { principal: 'agent', agent: 'operator' }),
    ask(applyRules, [], { principal: 'operator', agent: 'bob' }),
    ask({ ...applyRules, origin: 'upstream' }, [], own),
    ask(fakeTool('policy.promote', { audience: 'operator' }), [], own),
  ]) {
    assert.equal(closed.judge(question).effect, 'deny');
  }
});

test('the owner of the gate can put other rules in force whatever the rules in force say, asked first', () => {
  for (const mode of modes) {
    const verdict = closed.judge(ask(applyRules, [], { principal: 'operator', agent: 'operator', mode }));
    assert.deepEqual([verdict.effect, verdict.rule.id], ['require_approval', 'operator-mends-rules']);
  }
});

test('a rule that lets people change the mode decides as ever', () => {
  const rules = rulesOf("  - { id: mode, effect: allow, tools: ['mode.*'], who: [operator], approval: waived }");
  const verdict = rules.judge(ask(setMode, [], inLockdown));
  assert.deepEqual([verdict.effect, verdict.rule.id], ['allow', 'mode']);
});
