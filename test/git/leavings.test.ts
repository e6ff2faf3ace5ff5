import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, test } from 'node:test';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { GitWorkspace } from './git-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

test('git brings in no file that others run by themselves; its own .git stays', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.plain('checkout', '-q', '-b', 'hostile');
  workspace.commit('hostile', { '.envrc': 'x\n', '.husky/pre-commit': 'x\n', 'fine.txt': 'x\n' });
  workspace.plain('checkout', '-q', 'main');
  for (const command of ['checkout hostile', 'merge hostile', 'reset --hard hostile']) {
    await assert.rejects(workspace.git(command), endsWith('RULE_DENIES'), command);
  }
  workspace.plain('checkout', '-q', 'hostile');
  workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
  workspace.plain('checkout', '-q', 'main');
  const cloned = await workspace.git('clone remote.git copy -b hostile');
  assert.deepEqual([cloned['exit_code'], cloned['omitted']], [0, 2], JSON.stringify(cloned));
  assert.ok(existsSync(workspace.at('copy/.git')) && existsSync(workspace.at('copy/fine.txt')));
  assert.ok(!existsSync(workspace.at('copy/.envrc')) && !existsSync(workspace.at('copy/.husky')));
  assert.equal((await workspace.git('status --short', { cwd: 'copy' }))['stdout'], '');
});

test('what git leaves without naming it beforehand is set aside', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.plain('checkout', '-q', '-b', 'later', 'HEAD~1');
  workspace.commit('conflict', { 'a.txt': 'other\n' });
  workspace.commit('hostile', { '.envrc': 'x\n' });
  workspace.plain('rebase', 'main');
  assert.ok(!existsSync(workspace.at('.envrc')));
  const continued = await workspace.git('rebase --skip');
  assert.ok(!existsSync(workspace.at('.envrc')), JSON.stringify(continued));
  assert.equal((continued['withheld'] as string[]).length, 1, JSON.stringify(continued));
  assert.ok(existsSync(workspace.at('.git')));
});
