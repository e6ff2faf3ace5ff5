import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { refuse } from '../../call/refusal.ts';
import type { PathJudge } from '../../call/tool.ts';
import { judgeLeavings, selfRunningNames } from './leavings.ts';

const root = '/work/.vscode/project';

function leavingsOf(write: PathJudge['judge'], consented = false) {
  const caller = { principal: 'agent', agent: 'a', mode: 'NORMAL', consented } as const;
  const { judge } = judgeLeavings({ write: { judge: write }, caller });
  return (name: string, isForeseen = false): string | undefined => judge(`${root}/${name}`, root, { isForeseen })?.code;
}

test('names that others run by themselves are closed below the folder, in any spelling', () => {
  const judge = leavingsOf(() => undefined);
  for (const name of [
    '.git',
    'a/.GIT',
    '.g\u200Cit/config',
    '.envrc',
    'x/.Husky/pre-commit',
    '.vscode',
    '.hg/hgrc',
    '.sl/config',
  ]) {
    assert.equal(judge(name), 'RULE_DENIES', name);
  }
  for (const name of ['.github/hooks', 'x/.GitHub/Hooks/a.json', '.Rprofile', '.githooks/pre-push']) {
    assert.equal(judge(name), 'RULE_DENIES', name);
  }
  for (const name of [
    '.github',
    '.github/hooks.md',
    'hooks',
    'a',
    '.gitignore',
    '.github/workflows/a.yml',
    'envrc',
    '.vscode-x',
    'a/husky',
  ]) {
    assert.equal(judge(name), undefined, name);
  }
});

test('a consent covers what is foreseen, and never a repository', () => {
  const judge = leavingsOf(() => undefined, true);
  assert.deepEqual(
    [judge('.envrc', true), judge('.envrc'), judge('.git', true)],
    [undefined, 'RULE_DENIES', 'RULE_DENIES'],
  );
  assert.equal(leavingsOf(() => undefined)('.envrc', true), 'RULE_DENIES');
});

test('a rule counts that singles out a path, not one about the whole folder', () => {
  const deny = refuse('RULE_DENIES', 'r', 'No.');
  const ask = refuse('APPROVAL_REQUIRED', 'r', 'Ask.');
  const none = refuse('NO_RULE_ALLOWS', 'r', 'No rule.');
  const closed = (path: string) => path.includes('/closed');
  assert.equal(leavingsOf((path) => (closed(path) ? deny : undefined))('closed/a'), 'RULE_DENIES');
  assert.equal(leavingsOf((path) => (closed(path) ? ask : undefined))('closed/a'), 'APPROVAL_REQUIRED');
  assert.equal(leavingsOf((path) => (closed(path) ? deny : ask))('closed/a'), 'RULE_DENIES');
  for (const whole of [deny, ask, none]) assert.equal(leavingsOf(() => whole)('closed/a'), undefined);
  assert.equal(leavingsOf((path) => (closed(path) ? none : undefined))('closed/a'), undefined);
});

test('the shipped rules ask about each of these names', () => {
  const shipped = readFileSync(join(import.meta.dirname, '../../../../../config/governance/tools.yaml'), 'utf8');
  for (const name of selfRunningNames) {
    assert.match(shipped, new RegExp(`^ +- \\$WORKSPACE/\\*\\*/${RegExp.escape(name)}(?:/\\*\\*)?$`, 'm'), name);
  }
});
