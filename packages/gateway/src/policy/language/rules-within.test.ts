import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { loneWorkspace } from '../../call/workspace.ts';
import { ask, fakeTool, makeFolder, rulesOf, world } from '../test-world.ts';

const rules = rulesOf(`
  - { id: in-workspace, effect: allow, tools: [files.*], paths: [$WORKSPACE/**], match: [{ tool: files.read, path: $WORKSPACE/x }] }
  - { id: in-home, effect: allow, tools: [files.*], paths: [$HOME/shared/**] }
  - { id: no-secrets, effect: deny, tools: [files.*], paths: [$WORKSPACE/secrets/**] }
`);
const judgeIn = (folder: string, otherRoots: readonly string[] = []) =>
  rules.within({ ...loneWorkspace(folder), otherRoots }).judge;

test('$WORKSPACE is where the session works, in every rule, with one set of rules', () => {
  requirement('PKG-3');
  const [a, b] = [judgeIn('/p/a'), judgeIn('/p/b')];
  for (const [judge, own, other] of [
    [a, '/p/a', '/p/b'],
    [b, '/p/b', '/p/a'],
    [rules.judge, world.workspace, '/p/a'],
  ] as const) {
    assert.equal(judge(ask('files.read', [`${own}/x`])).effect, 'allow');
    assert.equal(judge(ask('files.read', [`${own}/secrets/x`])).rule.id, 'no-secrets');
    assert.equal(judge(ask('files.read', [`${other}/x`])).code, 'NO_RULE_ALLOWS');
    assert.equal(judge(ask('files.read', [`${own}/x`, `${other}/x`])).code, 'NO_RULE_ALLOWS');
  }
});

test('no rule opens another project, and the denial says why without naming the rules', () => {
  requirement('PKG-3');
  const judge = judgeIn('/home/ada/shared/a', ['/home/ada/shared/b']);
  assert.equal(judge(ask('files.read', ['/home/ada/shared/c/x'])).effect, 'allow');
  const { effect, code, rule, reason, remedy } = judge(ask('files.read', ['/home/ada/shared/b/x']));
  assert.deepEqual(
    { effect, code, rule, reason, remedy },
    {
      effect: 'deny',
      code: 'PROTECTED_PATH',
      rule: { id: 'other-project' },
      reason: '/home/ada/shared/b/x belongs to another project. No rule opens it to this session.',
      remedy: 'Ask the operator for a session in that project.',
    },
  );
});

test('paths that a running tool meets are judged where the session works', () => {
  const { judgePaths } = rules.within(loneWorkspace('/p/a'));
  const { mode, principal, agent } = ask('files.read', []);
  const { judge } = judgePaths({ tool: fakeTool('files.read'), principal, agent, mode, consented: false });
  assert.equal(judge('/p/a/x', 'read'), undefined);
  assert.equal(judge('/home/ada/work/x', 'read')?.code, 'NO_RULE_ALLOWS');
});

test('grants of $WORKSPACE are the folder of the session, also where a link stands in its place', () => {
  const granting = rulesOf(`
  - { id: run, effect: allow, tools: [shell.run], grants: { write: [$WORKSPACE], read: [$WORKSPACE/docs] } }
`);
  const folder = makeFolder();
  mkdirSync(join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'docs'));
  const { grants } = granting.within(loneWorkspace(folder)).judge(ask('shell.run', []));
  assert.deepEqual(grants?.write, [folder]);
  assert.deepEqual(grants.read, [join(folder, 'elsewhere')]);
});

test('the rules of a workspace are made once for each state of it', () => {
  const workspace = loneWorkspace('/p/a');
  assert.equal(rules.within(workspace), rules.within(workspace));
  assert.equal(rules.within(workspace).hash, rules.hash);
  assert.equal(rules.within(workspace).workspace, workspace);
});

test('a suggested rule names the workspace of the session', () => {
  const { forOperators = '' } = judgeIn('/p/a')(ask('notes.read', ['/p/a/x']));
  assert.match(forOperators, /paths: \["\$WORKSPACE\/x"\]/);
});
