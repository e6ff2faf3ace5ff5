import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../call/fault.ts';
import { rulesOf } from '../test-world.ts';

const shutsOut = (rule: string): boolean => {
  try {
    rulesOf(`  - { id: close, effect: deny, ${rule} }`).refuseShutOut();
    return false;
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /tools\.yaml:3:1 {2}rule close denies .* it lacks `who: \[agent\]`/);
    return true;
  }
};

test('rules under which the owner could not put other rules in force are found, with the line', () => {
  for (const rule of [
    "tools: ['*']",
    "tools: ['policy.*']",
    'tools: [policy.apply]',
    "tools: ['*'], who: [operator]",
    "tools: ['*'], modes: [ALERT]",
    "tools: ['*'], agents: ['oper*']",
    "tools: ['*'], origins: [builtin]",
  ]) {
    assert.equal(shutsOut(rule), true, rule);
  }
});

test('what leaves the owner a way is fine', () => {
  for (const rule of [
    "tools: ['*'], who: [agent]",
    "tools: ['*'], modes: [LOCKDOWN, RECOVERY]",
    "tools: ['*'], paths: ['/**']",
    "tools: ['*'], agents: [bob]",
    "tools: ['*'], roles: [worker]",
    "tools: ['*'], hours: ['22:00-06:00']",
    "tools: ['*'], days: [sat, sun]",
    "tools: ['*'], after: [web.search]",
    "tools: ['*'], shadow: true",
    "tools: ['*'], origins: [upstream]",
    'tools: [policy.promote]',
  ]) {
    assert.equal(shutsOut(rule), false, rule);
  }
});
