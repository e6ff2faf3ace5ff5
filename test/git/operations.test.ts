import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { GitWorkspace } from './git-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

function stdoutOf(output: JsonObject): string {
  assert.equal(output['exit_code'], 0, String(output['stderr']));
  return String(output['stdout']);
}

test('status, diff, log, show and remote tell what a person would see, and change nothing', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.put('a.txt', 'one\ntwo\nthree\n');
  workspace.put('new.txt', '');
  workspace.plain('remote', 'add', 'origin', 'https://me:password@git.example.com/x.git');
  const before = workspace.plain('status', '--porcelain');
  assert.equal(stdoutOf(await workspace.git('status --short')), ' M a.txt\n?? new.txt\n');
  assert.match(stdoutOf(await workspace.git('diff')), /^diff --git a\/a\.txt[^]*\+three\n$/);
  assert.equal(stdoutOf(await workspace.git('diff --name-only a.txt sub')), 'a.txt\n');
  assert.equal(stdoutOf(await workspace.git('diff --name-only main..topic')), 'a.txt\ntopic.txt\n');
  assert.equal(stdoutOf(await workspace.git('log --format=%s -n 5')), 'second\nfirst\n');
  assert.equal(stdoutOf(await workspace.git('log --format=%s -- sub')), 'first\n');
  assert.match(stdoutOf(await workspace.git('show --stat HEAD')), /second[^]*a\.txt/);
  assert.equal(stdoutOf(await workspace.git('show HEAD~1:a.txt')), 'one\n');
  assert.equal(stdoutOf(await workspace.git('remote get-url origin')), 'https://***@git.example.com/x.git\n');
  assert.equal(workspace.plain('status', '--porcelain'), before);
});

test('an error of git is a result', async () => {
  using workspace = new GitWorkspace(programs);
  const unknown = await workspace.git('log no-such-branch --');
  assert.equal(unknown['exit_code'], 128);
  assert.match(String(unknown['stderr']), /bad revision/);
  assert.equal((await workspace.git('checkout no-such-branch --'))['exit_code'], 128);
  assert.equal((await workspace.git('commit -m nothing'))['exit_code'], 1);
});

test('work is staged, committed, branched, merged, tagged, stashed and thrown away', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.put('new file.txt', 'new\n');
  stdoutOf(await workspace.gitWith(['add', 'new file.txt']));
  stdoutOf(await workspace.gitWith(['commit', '-m', '-c core.editor=x\n\n$(id)']));
  assert.equal(
    workspace.plain('log', '-1', '--format=%B|%an|%ae'),
    '-c core.editor=x\n\n$(id)\n|Ada Lovelace|ada-lovelace@sallyport.invalid\n',
  );
  stdoutOf(await workspace.git('checkout -b feature'));
  workspace.put('a.txt', 'changed\n');
  stdoutOf(await workspace.git('commit -am change'));
  stdoutOf(await workspace.git('checkout main'));
  assert.equal(workspace.text('a.txt'), 'one\ntwo\n');
  stdoutOf(await workspace.git('merge feature'));
  assert.equal(workspace.text('a.txt'), 'changed\n');
  stdoutOf(await workspace.gitWith(['tag', '-a', 'v1', '-m', 'first release']));
  assert.equal(stdoutOf(await workspace.git('tag')), 'v1\n');
  assert.equal(stdoutOf(await workspace.git('branch --format=%(refname:short)')), 'feature\nmain\ntopic\n');
  stdoutOf(await workspace.git('branch -D feature'));
  workspace.put('a.txt', 'unfinished\n');
  stdoutOf(await workspace.git('stash'));
  assert.equal(workspace.text('a.txt'), 'changed\n');
  assert.match(stdoutOf(await workspace.git('stash show')), /a\.txt \|/);
  stdoutOf(await workspace.git('stash pop'));
  assert.equal(workspace.text('a.txt'), 'unfinished\n');
  stdoutOf(await workspace.git('checkout -- a.txt'));
  assert.equal(workspace.text('a.txt'), 'changed\n');
  workspace.put('a.txt', 'unfinished\n');
  stdoutOf(await workspace.git('reset --hard HEAD~1'));
  assert.equal(workspace.text('a.txt'), 'one\ntwo\n');
  stdoutOf(await workspace.git('rebase topic'));
  assert.equal(workspace.text('topic.txt'), 'topic\n');
});

test('a repository in an allowed folder is cloned, fetched from, pulled from and pushed to', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
  assert.equal((await workspace.git('clone remote.git copy'))['exit_code'], 0);
  assert.equal(workspace.text('copy/a.txt'), 'one\ntwo\n');
  assert.equal(stdoutOf(await workspace.git('status --short', { cwd: 'copy' })), '');
  assert.deepEqual(readdirSync(workspace.at('copy/.git')).includes('hooks'), false);
  workspace.put('copy/a.txt', 'from the copy\n');
  stdoutOf(await workspace.git('commit -am copied', { cwd: 'copy' }));
  stdoutOf(await workspace.git('push origin main', { cwd: 'copy' }));
  workspace.plain('remote', 'add', 'origin', workspace.at('remote.git'));
  stdoutOf(await workspace.git('fetch'));
  assert.equal(stdoutOf(await workspace.git('log -1 --format=%s origin/main')), 'copied\n');
  stdoutOf(await workspace.git('pull --ff-only'));
  assert.equal(workspace.text('a.txt'), 'from the copy\n');
  await assert.rejects(workspace.git('clone remote.git copy'), endsWith('ALREADY_EXISTS'));
  assert.equal((await workspace.git('clone sub elsewhere'))['exit_code'], 128);
  assert.ok(!existsSync(workspace.at('elsewhere')));
});

test('files that the rules keep back are left out of what is shown, and counted', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.commit('with a secret', { 'forbidden.env': 'TOKEN=1\n', 'c.txt': 'c\n' });
  workspace.put('forbidden.env', 'TOKEN=2\n');
  workspace.put('c.txt', 'changed\n');
  for (const command of [
    'diff',
    'diff HEAD',
    'diff HEAD~1',
    'log -p',
    'log --stat -1',
    'show',
    'status --short',
    'log -STOKEN',
  ]) {
    const output = await workspace.git(command);
    assert.doesNotMatch(stdoutOf(output), /TOKEN|forbidden/, command);
    assert.equal(output['omitted'], 1, command);
  }
  assert.match(stdoutOf(await workspace.git('diff')), /c\.txt/);
  await assert.rejects(workspace.git('show HEAD:forbidden.env'), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(workspace.git('diff -- forbidden.env'), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(workspace.git('diff forbidden.env'), endsWith('NO_RULE_ALLOWS'));
  const blob = workspace.plain('rev-parse', 'HEAD:forbidden.env').trim();
  workspace.plain('tag', '-a', '-m', 'x', 'a-blob', blob);
  const other = workspace.plain('rev-parse', 'HEAD:c.txt').trim();
  for (const name of [
    blob,
    blob.slice(0, 10),
    'a-blob',
    'HEAD^{tree}',
    `${other}..${blob}`,
    `^${blob}`,
    `${blob}...`,
  ]) {
    await assert.rejects(workspace.git(`show ${name}`), endsWith('UNSAFE_PATH'), name);
    await assert.rejects(workspace.git(`diff ${name} HEAD:c.txt --`), endsWith('UNSAFE_PATH'), name);
    await assert.rejects(workspace.git(`checkout ${name} -- c.txt`), endsWith('UNSAFE_PATH'), name);
  }
  await assert.rejects(workspace.git('tag -l --format=%(raw) a-blob'), endsWith('INVALID_ARGUMENTS'));
});

test('a file is judged by its whole path, not by its path in a part of a commit', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.commit('with a secret folder', { 'forbidden/plain.txt': 'TOKEN\n' });
  const tree = workspace.plain('rev-parse', 'HEAD:forbidden').trim();
  for (const name of [`${tree}:plain.txt`, `HEAD^{tree}:plain.txt`, 'HEAD:forbidden', `HEAD..${tree}:plain.txt`]) {
    await assert.rejects(workspace.git(`show ${name}`), endsWith('INVALID_ARGUMENTS'), name);
  }
  await assert.rejects(workspace.git(`checkout ${tree} -- plain.txt`), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.git('clone . copy'), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.git('clone .git copy'), endsWith('UNSAFE_PATH'));
});

test('a message is read from a file, but not through a link to one that the rules keep back', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.commit('with a secret', { 'forbidden.env': 'TOKEN\n' });
  workspace.put('message.txt', 'from a file\n');
  stdoutOf(await workspace.git('commit --allow-empty -F message.txt'));
  assert.equal(workspace.plain('log', '-1', '--format=%s'), 'from a file\n');
  symlinkSync('forbidden.env', workspace.at('link'));
  await assert.rejects(workspace.git('commit --allow-empty --file=link'), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.git('tag -a v1 -F link'), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.git('commit --allow-empty -F missing'), endsWith('NOT_FOUND'));
});

test('files that the rules keep back are neither staged nor changed; what cannot do without them is refused', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.commit('with a settled file', { 'settled.txt': '1\n', 'forbidden.env': '1\n' });
  workspace.plain('branch', 'before', 'HEAD~1');
  workspace.put('forbidden.env', '2\n');
  workspace.put('forbidden-too', '2\n');
  workspace.put('new.txt', '');
  const added = await workspace.git('add -A');
  assert.deepEqual([added['exit_code'], added['omitted']], [0, 2]);
  assert.equal(workspace.plain('diff', '--cached', '--name-only'), 'new.txt\n');
  stdoutOf(await workspace.git('commit -m new'));
  for (const command of ['commit -am all', 'stash', 'reset --hard', 'checkout before', 'checkout -f']) {
    await assert.rejects(workspace.git(command), endsWith('NO_RULE_ALLOWS', /keep from this call/), command);
  }
  assert.equal(workspace.text('forbidden.env'), '2\n');
  assert.equal(workspace.plain('log', '-1', '--format=%s'), 'new\n');
});

test('what is judged are the paths from the top, wherever git runs and whatever the repository says', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.commit('deep', { 'sub/forbidden.txt': '1\n', 'sub/c.txt': '1\n', 'forbidden/c.txt': '1\n' });
  workspace.configure('[diff]\nrelative = true\n[status]\nrelativePaths = true\n[log]\ndiffMerges = first-parent');
  for (const name of ['sub/forbidden.txt', 'sub/c.txt', 'forbidden/c.txt']) workspace.put(name, '2\n');
  const shown = await workspace.git('diff', { cwd: 'sub' });
  assert.deepEqual([shown['omitted'], stdoutOf(shown).match(/^\+\+\+ .*$/gm)], [2, ['+++ b/sub/c.txt']]);
  assert.equal((await workspace.git('log -p -1', { cwd: 'sub' }))['omitted'], 2);
  assert.equal((await workspace.git('add .', { cwd: 'sub' }))['omitted'], 1);
  assert.equal(workspace.plain('diff', '--cached', '--name-only', '--no-relative'), 'sub/c.txt\n');
  await assert.rejects(workspace.git('commit -am x', { cwd: 'sub' }), endsWith('NO_RULE_ALLOWS'));
});

test('a clone leaves out what the rules do not let the call create', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.commit('with a settled file', { 'settled.json': '{}\n', 'c.txt': 'c\n' });
  workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
  const cloned = await workspace.git('clone remote.git copy');
  assert.deepEqual([cloned['exit_code'], cloned['omitted']], [0, 1]);
  assert.deepEqual([existsSync(workspace.at('copy/settled.json')), workspace.text('copy/c.txt')], [false, 'c\n']);
  assert.equal(stdoutOf(await workspace.git('status --short', { cwd: 'copy' })), '');
});

test('a pull that would bring what the rules forbid ends before it changes a file', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
  workspace.plain('remote', 'add', 'origin', workspace.at('remote.git'));
  workspace.commit('forbidden', { 'settled.json': '{}\n' });
  workspace.plain('push', '-q', 'origin', 'main');
  workspace.plain('reset', '-q', '--hard', 'HEAD~1');
  await assert.rejects(workspace.git('pull'), endsWith('NO_RULE_ALLOWS'));
  assert.equal(workspace.plain('status', '--porcelain', '--untracked-files=no'), '');
  assert.ok(!existsSync(workspace.at('settled.json')));
});

test('hooks and configuration stay as they are', async () => {
  using workspace = new GitWorkspace(programs);
  mkdirSync(workspace.at('.git/hooks'), { recursive: true });
  workspace.plain('config', 'branch.topic.description', 'x');
  const config = readFileSync(workspace.at('.git/config'), 'utf8');
  for (const command of ['branch -m topic renamed', 'branch -D renamed', 'checkout -b another'])
    await workspace.git(command);
  assert.equal(readFileSync(workspace.at('.git/config'), 'utf8'), config);
  assert.doesNotMatch(workspace.plain('branch'), /topic|renamed/);
});

test('other worktrees of a repository work, as far as the rules go', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.plain('worktree', 'add', '-q', 'trees/topic', 'topic');
  workspace.put('trees/topic/topic.txt', 'changed\n');
  assert.equal(stdoutOf(await workspace.git('status --short', { cwd: 'trees/topic' })), ' M topic.txt\n');
  stdoutOf(await workspace.git('commit -am changed', { cwd: 'trees/topic' }));
  assert.equal(workspace.plain('log', '-1', '--format=%s', 'topic'), 'changed\n');
  rmSync(workspace.at('trees'), { recursive: true });
});
