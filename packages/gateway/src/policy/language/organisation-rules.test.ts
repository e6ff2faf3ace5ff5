import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadRules } from './load-rules.ts';
import { ask, fakeTool, problemsOf, world, writeRules } from '../test-world.ts';

const roles = `version: 1
roles: { worker: { tools: [files.read] } }
members: [{ agents: [wanda], roles: [worker] }]
`;
const tools = `version: 1
rules:
  - { id: all, effect: allow, tools: ['*'], paths: ['$WORKSPACE/**'] }
  - { id: no-worker, effect: deny, tools: [files.delete], roles: [worker] }
`;
const path = '/home/ada/work/a';
const load = (folder: string) => loadRules({ ...world, folder });

test('a role that the organisation gives counts instead of that of the file', () => {
  const rules = load(writeRules({ tools, roles }));
  const effect = (more: object) => rules.judge(ask('files.list', [path], more)).effect;
  assert.equal(effect({ agent: 'wanda' }), 'deny');
  assert.equal(effect({ agent: 'wanda', roles: [] }), 'allow');
  assert.equal(effect({ agent: 'ada', roles: ['worker'] }), 'deny');
  assert.deepEqual([rules.rolesOf('wanda'), rules.rolesOf('ada')], [['worker'], []]);
});

test('a grant lifts what the role narrows, and no rule about the role', () => {
  const rules = load(writeRules({ tools, roles }));
  const granted = { agent: 'wanda', toolGranted: true };
  assert.equal(rules.judge(ask('files.list', [path], granted)).effect, 'allow');
  const { effect, rule } = rules.judge(ask('files.delete', [path], granted));
  assert.deepEqual([effect, rule.id], ['deny', 'no-worker']);
});

test('a mode is opened by a rule that names it, not by one that leaves it out or denies', () => {
  const rules = load(
    writeRules({
      tools: `version: 1
rules:
  - { id: named, effect: allow, tools: [files.read], modes: [NORMAL, LOCKDOWN] }
  - { id: every, effect: allow, tools: [files.list] }
  - { id: denied, effect: deny, tools: [files.write], modes: [LOCKDOWN] }
`,
    }),
  );
  const opened = ['files.read', 'files.list', 'files.write'].filter((name) =>
    rules.opensByName(fakeTool(name), 'LOCKDOWN'),
  );
  assert.deepEqual(opened, ['files.read']);
  assert.equal(rules.opensByName(fakeTool('files.read'), 'ALERT'), false);
});

test('limits of the profile team, of roles and of everyone are read, and checked like the others', () => {
  const one = (calls: number) => ({ tools: ['a.*'], limits: [{ windowMs: 60_000, calls }] });
  const { limits } = load(
    writeRules({
      limits: `version: 1
team_rates: [{ tools: ['a.*'], per_minute: 1 }]
role_rates: { worker: [{ tools: ['a.*'], per_minute: 2 }] }
total_rates: [{ tools: ['a.*'], per_minute: 3 }]
`,
    }),
  );
  assert.deepEqual(limits.teamRates, [one(1)]);
  assert.deepEqual(limits.roleRates, new Map([['worker', [one(2)]]]));
  assert.deepEqual(limits.totalRates, [one(3)]);
  const bad = `version: 1\nrole_rates: { worker: [{ tools: ['a.*'], per_minute: 0 }] }\ntotal_rates: 7\n`;
  assert.equal(problemsOf({ limits: bad }).length, 2);
});
