import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endsWith } from '../files/test-workspace.ts';
import { parseGitArguments, writeOptions } from './git-arguments.ts';
import type { OptionRules } from './git-arguments.ts';

const rules: OptionRules = {
  flags: ['-a', '-q', '--all', '--stat', '-uno'],
  values: { '-m': 'text', '--message': 'text', '-n': 'number', '-F': 'file', '-b': 'name', '--cleanup': ['strip'] },
  attached: ['--stat'],
  takesCount: true,
};

const parse = (...args: readonly string[]) => parseGitArguments('commit', args, rules);

test('options are taken apart and written in a form that cannot be misread', () => {
  const { options } = parse('-am', '-q', '--message=-c x', '-n5', '-7', '--stat=80', '-uno', '--all', '-mtext');
  assert.deepEqual(writeOptions(options), [
    ...['-a', '-m', '-q', '--message=-c x', '-n', '5', '--max-count=7', '--stat=80', '-uno', '--all', '-m', 'text'],
  ]);
});

test('names, paths and files are told apart', () => {
  const parsed = parse('-F', 'message.txt', 'HEAD~1', '-a', '--', '-file', 'dir/file');
  assert.deepEqual([parsed.before, parsed.after, parsed.files], [['HEAD~1'], ['-file', 'dir/file'], ['message.txt']]);
  assert.equal(parse('HEAD').after, undefined);
  assert.deepEqual(parse('--').after, []);
});

test('what is not listed is refused: other options, abbreviations, values where there are none', () => {
  const hostile = [
    ...['-c', '-ccore.pager=x', '--exec-path=/tmp', '--git-dir=x', '--upload-pack=x', '--output=x', '--no-index'],
    ...['--al', '--mess', '--all=1', '-ax', '-', '-C', '--', '-u', '--Stat', '-\u2010a'],
  ].filter((option) => option !== '--');
  for (const option of hostile) assert.throws(() => parse(option), endsWith('INVALID_ARGUMENTS'), option);
});

test('values must be what they are said to be', () => {
  for (const args of [['-n'], ['-n', 'x'], ['-n', '-5'], ['-b', '--force'], ['-b', ''], ['--cleanup=x'], ['-m']]) {
    assert.throws(() => parse(...args), endsWith('INVALID_ARGUMENTS'), args.join(' '));
  }
  for (const name of ['', 'a\0b', 'a\nb', ':(exclude)x', ':/x', ':x', '\ud800']) {
    assert.throws(() => parse(name), endsWith('INVALID_ARGUMENTS'), JSON.stringify(name));
    assert.throws(() => parse('--', name), endsWith('INVALID_ARGUMENTS'), JSON.stringify(name));
  }
});
