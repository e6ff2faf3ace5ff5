import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counterSettings, gitEnvironment } from './git-settings.ts';

test('every filter, merge driver and hook that a repository names is answered', () => {
  const keys = [
    'filter.a.b.clean',
    'filter.LFS.required',
    'merge.x\ny.driver',
    'hook.h.command',
    'core.bare',
    'merge.tool',
  ];
  assert.deepEqual(counterSettings(keys), [
    ['filter.a.b.clean', ''],
    ['filter.a.b.smudge', ''],
    ['filter.a.b.process', ''],
    ['filter.a.b.required', 'false'],
    ['filter.LFS.clean', ''],
    ['filter.LFS.smudge', ''],
    ['filter.LFS.process', ''],
    ['filter.LFS.required', 'false'],
    ['merge.x\ny.driver', 'false'],
    ['hook.h.enabled', 'false'],
  ]);
});

test('git gets its settings by number, and no transport unless one is named', () => {
  const environment = gitEnvironment([['user.name', 'Ada']]);
  const count = Number(environment['GIT_CONFIG_COUNT']);
  assert.equal(environment[`GIT_CONFIG_KEY_${count - 1}`], 'user.name');
  assert.equal(environment[`GIT_CONFIG_VALUE_${count - 1}`], 'Ada');
  assert.equal(environment['GIT_CONFIG_KEY_0'], 'core.hooksPath');
  assert.equal(environment['GIT_ALLOW_PROTOCOL'], 'none');
  assert.equal(gitEnvironment([], { protocols: ['https'] })['GIT_ALLOW_PROTOCOL'], 'https');
});
