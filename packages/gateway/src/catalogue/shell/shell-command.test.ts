import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { endsWith } from '../files/test-workspace.ts';
import { planCommand } from './shell-command.ts';

const folder = '/workspace/project';

test('a program of the fixed folders is judged by its name, however it is spelled', () => {
  requirement('CAT-2');
  for (const argv of [['cat'], ['/usr/bin/cat'], ['/bin/cat'], ['/usr//bin/./cat']]) {
    const plan = planCommand({ argv: [...argv, 'a b', '$HOME'] }, folder);
    assert.deepEqual(plan.commands, ["cat 'a b' '$HOME'"]);
    assert.deepEqual(plan.argv, ['/usr/bin/cat', 'a b', '$HOME']);
    assert.deepEqual(plan.paths, []);
  }
});

test('a program from elsewhere is judged by its path, and its path is claimed', () => {
  const plan = planCommand({ command: './run.sh --fast' }, folder);
  assert.deepEqual(plan.commands, [`${folder}/run.sh --fast`]);
  assert.deepEqual(plan.argv, [`${folder}/run.sh`, '--fast']);
  assert.deepEqual(plan.paths, [{ path: `${folder}/run.sh`, access: 'read' }]);
  assert.deepEqual(planCommand({ argv: ['/usr/lib/git-core/git-remote-ext'] }, folder), {
    commands: ['/usr/lib/git-core/git-remote-ext'],
    argv: ['/usr/lib/git-core/git-remote-ext'],
    paths: [],
    text: '/usr/lib/git-core/git-remote-ext',
  });
});

test('every segment of a line is claimed, and so is every file that it reads or writes', () => {
  requirement('CAT-2');
  const plan = planCommand({ command: 'sort <in | uniq >>"out put" && tee log 2>/dev/null' }, folder);
  assert.deepEqual(plan.commands, ['sort', 'uniq', 'tee log']);
  assert.deepEqual(plan.paths, [
    { path: `${folder}/in`, access: 'read' },
    { path: `${folder}/out put`, access: 'write' },
  ]);
});

test('a line for a shell is written anew from what was judged', () => {
  const { argv } = planCommand({ command: 'echo "it\'s" \'$x\' | cat >"a b"; true' }, folder);
  assert.deepEqual(argv, [
    '/bin/sh',
    '-c',
    `'/usr/bin/echo' 'it'\\''s' '$x' | '/usr/bin/cat' 1>'${folder}/a b' ; '/usr/bin/true'`,
  ]);
});

test('what is no program cannot be judged, least of all what only a shell knows', () => {
  for (const word of ['no-such-program', '..', 'cd', 'eval', 'exec', 'source', '.', ':']) {
    assert.throws(() => planCommand({ argv: [word, 'x'] }, folder), endsWith('COMMAND_UNCLEAR'), word);
    if (word !== '..') assert.throws(() => planCommand({ command: `${word} x` }, folder), endsWith('COMMAND_UNCLEAR'));
  }
  assert.throws(() => planCommand({ command: 'cd src && ls' }, folder), endsWith('COMMAND_UNCLEAR', /inside a shell/));
});

test('paths that climb are refused as everywhere', () => {
  assert.throws(() => planCommand({ argv: ['../run.sh'] }, folder), endsWith('UNSAFE_PATH'));
  assert.throws(() => planCommand({ command: 'cat <../x' }, folder), endsWith('UNSAFE_PATH'));
});

test('a call gives either words or a line', () => {
  assert.throws(() => planCommand({}, folder), endsWith('INVALID_ARGUMENTS'));
  assert.throws(() => planCommand({ argv: ['ls'], command: 'ls' }, folder), endsWith('INVALID_ARGUMENTS'));
  for (const argv of [[], [''], ['ls', 'a\0b'], ['ls', '\ud800']]) {
    assert.throws(() => planCommand({ argv }, folder), endsWith('INVALID_ARGUMENTS'));
  }
});
