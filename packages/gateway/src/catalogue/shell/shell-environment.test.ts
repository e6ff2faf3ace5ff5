import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { noGrants } from '../../call/verdict.ts';
import { endsWith } from '../files/test-workspace.ts';
import { shellEnvironment } from './shell-environment.ts';

const context = {
  grants: { ...noGrants, environment: { MODE: 'test', LD_LIBRARY_PATH: '/opt/lib' } },
  readSecrets: () => ({ TOKEN: 'secret' }),
};

test('a program gets what the rules give, and nothing of the daemon', () => {
  assert.deepEqual(shellEnvironment({}, context), {
    PATH: '/usr/bin:/bin',
    HOME: '/tmp',
    LANG: 'C.UTF-8',
    MODE: 'test',
    LD_LIBRARY_PATH: '/opt/lib',
    TOKEN: 'secret',
  });
});

test('a caller sets what is harmless and what the rules name', () => {
  const { MODE, NO_COLOR, TZ } = shellEnvironment({ MODE: 'mine', NO_COLOR: '1', TZ: 'UTC' }, context);
  assert.deepEqual([MODE, NO_COLOR, TZ], ['mine', '1', 'UTC']);
});

test('a caller cannot set anything else, nor what decides which code runs, nor a secret', () => {
  requirement('CAT-2');
  const names = ['EDITOR', 'NODE_OPTIONS', 'PATH', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'IFS', 'ENV', 'BASH_ENV', 'HOME'];
  for (const name of [...names, 'GIT_SSH_COMMAND', 'TOKEN', '__proto__', 'constructor']) {
    const given = JSON.parse(`{${JSON.stringify(name)}:"x"}`) as Record<string, string>;
    assert.throws(() => shellEnvironment(given, context), endsWith('RULE_DENIES'), name);
  }
});
