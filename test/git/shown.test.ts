import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import type { Effect } from '../../packages/gateway/src/call/tool.ts';
import { judgeLeavings } from '../../packages/gateway/src/policy/judge/leavings.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { requirement } from '../requirement.ts';
import { GitWorkspace } from './git-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

const changed = endsWith('APPROVAL_MISMATCH', /has changed since the call was approved/);

function show(workspace: GitWorkspace, command: string): Promise<Effect> {
  const [name = '', ...args] = command.split(' ');
  return workspace.preview(workspace.tool(name), { args });
}

/** Shows the effect, lets the world change, and runs as if a person had agreed. */
async function agreed(
  workspace: GitWorkspace,
  command: string,
  change: () => unknown = () => undefined,
): Promise<JsonObject> {
  const { basis: shownBasis = assert.fail() } = await show(workspace, command);
  change();
  return workspace.git(command, { shownBasis });
}

function messageOf(workspace: GitWorkspace, revision = 'HEAD'): string {
  return workspace.plain('log', '-1', '--format=%s', revision).trim();
}

test('who is asked about a commit sees what it records, and on top of what', async () => {
  using workspace = new GitWorkspace(programs);
  const head = workspace.plain('rev-parse', 'HEAD').trim();
  workspace.put('a.txt', 'staged\n');
  workspace.plain('add', 'a.txt');
  workspace.put('sub/b.txt', 'not staged\n');
  const plain = await show(workspace, 'commit -m x');
  assert.match(plain.detail, new RegExp(`on top of: ${head}`));
  assert.match(plain.detail, /-one\n-two\n\+staged\n/);
  assert.doesNotMatch(plain.detail, /not staged/);
  assert.match((await show(workspace, 'commit -a -m x')).detail, /\+staged[^]*\+not staged/);
  const named = (await show(workspace, 'commit -m x -- sub/b.txt')).detail;
  assert.ok(named.includes('+not staged') && !named.includes('+staged'));
  assert.match((await show(workspace, 'commit -i -m x -- sub/b.txt')).detail, /\+staged[^]*\+not staged/);
  assert.match((await show(workspace, 'commit --amend --no-edit')).detail, new RegExp(`replaces: ${head}`));
  workspace.put('message.txt', 'from a file\n');
  assert.match((await show(workspace, 'commit -F message.txt')).detail, /message:\n {2}\| from a file/);
});

test('a commit of nothing, and what git cannot do, fails before anybody is asked', async () => {
  using workspace = new GitWorkspace(programs);
  await assert.rejects(show(workspace, 'commit -m x'), endsWith('EXECUTION_ERROR', /nothing to commit/));
  await assert.rejects(show(workspace, 'checkout no-such-branch --'), endsWith('EXECUTION_ERROR', /no-such-branch/));
  for (const command of [
    ...['checkout nosuch', 'checkout -- nosuch', 'checkout HEAD -- nosuch'],
    ...['branch -d nosuch', 'branch -D nosuch', 'branch -m nosuch other', 'tag -d nosuch', 'stash drop'],
  ]) {
    await assert.rejects(
      show(workspace, command),
      endsWith('EXECUTION_ERROR', /^git says: .*(nosuch|[Ss]tash)/),
      command,
    );
  }
  workspace.plain('tag', 'one');
  // Of another size than before: git may overlook a change of the same size within the same second.
  workspace.put('a.txt', 'changed, and longer\n');
  for (const command of [
    ...['checkout topic', 'checkout -b new', 'checkout -- a.txt', 'checkout HEAD -- sub', 'checkout a.txt'],
    ...['branch -D topic', 'branch -m topic other', 'branch -m other', 'branch new', 'tag -d one', 'tag two'],
  ]) {
    assert.ok(await show(workspace, command), command);
  }
  workspace.plain('stash');
  assert.ok(await show(workspace, 'stash drop'));
  assert.ok(await show(workspace, 'stash drop 0'));
  await assert.rejects(show(workspace, 'stash drop 1'), endsWith('EXECUTION_ERROR'));
  await assert.rejects(show(workspace, 'push origin main'), endsWith('EXECUTION_ERROR', /origin/));
  await assert.rejects(show(workspace, 'clone sub sub'), endsWith('ALREADY_EXISTS'));
});

test('a commit records what was shown, or nothing', async () => {
  requirement('APPR-6');
  using workspace = new GitWorkspace(programs);
  const stage = (text: string) => {
    workspace.put('a.txt', text);
    workspace.plain('add', 'a.txt');
  };
  stage('shown\n');
  await assert.rejects(
    agreed(workspace, 'commit -m x', () => stage('other\n')),
    changed,
  );
  assert.equal(messageOf(workspace), 'second');
  stage('shown\n');
  await assert.rejects(
    agreed(workspace, 'commit -m x', () => workspace.plain('commit', '-q', '--allow-empty', '-m', 'another')),
    changed,
  );
  for (const command of [
    'commit -m plain',
    'commit -a -m all',
    'commit -m named -- a.txt',
    'commit --amend -m again',
  ]) {
    stage(`${command}\n`);
    assert.equal((await agreed(workspace, command))['exit_code'], 0, command);
    assert.equal(workspace.plain('show', 'HEAD:a.txt'), `${command}\n`);
  }
});

/** Another program: changes a file as fast as it can, until its standard input ends. */
const writer = `
  const { writeFileSync } = require('node:fs');
  let count = 0;
  process.stdin.on('end', () => process.exit()).resume();
  (function write() {
    for (let round = 0; round < 50; round++) writeFileSync(process.argv[1], count++ % 2 === 0 ? 'shown\\n' : 'other\\n');
    setImmediate(write);
  })();
`;

test('a commit that took in what a program changed meanwhile is taken back', async () => {
  requirement('APPR-6');
  using workspace = new GitWorkspace(programs);
  const head = workspace.plain('rev-parse', 'HEAD').trim();
  for (let round = 0; round < 4; round++) {
    workspace.put('a.txt', 'shown\n');
    const { basis: shownBasis = assert.fail() } = await show(workspace, 'commit -a -m raced');
    const racer = spawn(process.execPath, ['-e', writer, workspace.at('a.txt')], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    try {
      await workspace.git('commit -a -m raced', { shownBasis }).catch(changed);
    } finally {
      racer.stdin.end();
      await once(racer, 'close');
    }
    if (workspace.plain('rev-parse', 'HEAD').trim() === head) continue;
    assert.equal(workspace.plain('show', 'HEAD:a.txt'), 'shown\n');
    workspace.plain('reset', '-q', '--hard', head);
  }
});

test('who is asked about a push sees every commit that leaves, and no other one does', async () => {
  requirement('APPR-6');
  using workspace = new GitWorkspace(programs);
  workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
  workspace.plain('remote', 'add', 'origin', workspace.at('remote.git'));
  workspace.plain('fetch', '-q', 'origin');
  workspace.commit('holds a password', { 'a.txt': 'hunter2\n' });
  workspace.commit('holds none', { 'a.txt': 'clean\n' });
  const { detail } = await show(workspace, 'push origin main');
  assert.match(detail, new RegExp(`to: ${workspace.at('remote.git')}`));
  assert.match(detail, /pushes: [0-9a-f]{40} as refs\/heads\/main/);
  assert.match(detail, /holds none[^]*holds a password[^]*\+hunter2/);
  await assert.rejects(
    agreed(workspace, 'push origin main', () => workspace.commit('not shown', { 'c.txt': 'c\n' })),
    changed,
  );
  const remoteHead = () => messageOf(workspace, 'origin/main');
  assert.equal(remoteHead(), 'second');
  workspace.plain('tag', '-a', 'v1', '-m', 'first release');
  for (const command of ['push', 'push origin HEAD', 'push origin main:topic2', 'push --tags', 'push origin tag v1']) {
    const output = await agreed(workspace, command);
    assert.equal(output['exit_code'], 0, `${command}: ${String(output['stderr'])}`);
  }
  assert.equal(remoteHead(), 'not shown');
  assert.match(workspace.plain('ls-remote', 'origin'), /refs\/heads\/topic2\n[^]*refs\/tags\/v1\n/);
});

test('other changes of a repository are made in the state that was shown', async () => {
  using workspace = new GitWorkspace(programs);
  for (const [command, change] of [
    ['merge topic', () => workspace.plain('branch', '-f', 'topic', 'main')],
    ['reset --hard HEAD~1', () => workspace.commit('third', { 'a.txt': 'third\n' })],
    ['checkout topic', () => workspace.plain('branch', '-f', 'topic', 'HEAD~2')],
    ['branch -D topic', () => workspace.plain('branch', '-f', 'topic', 'HEAD')],
  ] as const) {
    const before = workspace.plain('rev-parse', '--symbolic-full-name', 'HEAD');
    await assert.rejects(agreed(workspace, command, change), changed, command);
    assert.equal(workspace.plain('rev-parse', '--symbolic-full-name', 'HEAD'), before);
  }
  assert.equal((await agreed(workspace, 'reset --hard HEAD~1'))['exit_code'], 0);
});

/** A bare repository with the commits of the workspace, and another one that is its origin and lacks the newest ones. */
function withRemotes(workspace: GitWorkspace): void {
  workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
  workspace.plain('remote', 'add', 'origin', workspace.at('remote.git'));
  workspace.plain('fetch', '-q', 'origin');
}

test('who is asked about a merge reads the names of files that run by themselves', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.plain('checkout', '-q', 'topic');
  workspace.commit('hooks', { '.husky/pre-commit': 'true\n', 'plain.txt': 'x\n' });
  workspace.plain('checkout', '-q', 'main');
  const caller = { principal: 'agent', agent: 'a', mode: 'NORMAL', consented: true } as const;
  const leavings = judgeLeavings({ write: { judge: () => undefined }, caller });
  for (const command of ['merge topic', 'checkout topic', 'rebase topic', 'reset --hard topic']) {
    const [name = '', ...args] = command.split(' ');
    const { detail } = await workspace.preview(workspace.tool(name), { args }, { leavings });
    assert.match(detail, /changes .husky\/pre-commit, which other programs may run/, command);
    assert.doesNotMatch(detail, /changes plain.txt/);
  }
});

test('nothing that an agent fetches passes for what the remote has, so that a push hides no commit', async () => {
  using workspace = new GitWorkspace(programs);
  withRemotes(workspace);
  workspace.commit('holds a password', { 'a.txt': 'hunter2\n' });
  workspace.plain('clone', '-q', '--bare', '.', 'copy');
  for (const command of [
    'fetch ./copy main:refs/remotes/origin/hidden',
    'fetch ./copy +refs/heads/*:refs/remotes/origin/*',
    'pull ./copy main:refs/remotes/origin/main',
    `push origin HEAD:refs/replace/${workspace.plain('rev-parse', 'HEAD').trim()}`,
    'push origin HEAD:refs/remotes/origin/hidden',
  ]) {
    await assert.rejects(workspace.git(command), endsWith('INVALID_ARGUMENTS'), command);
  }
  assert.match((await show(workspace, 'push origin main')).detail, /\+hunter2/);
  const own = await workspace.git('fetch origin main:refs/remotes/origin/again');
  assert.equal(own['exit_code'], 0, String(own['stderr']));
});

test('neither an attribute, a NUL nor a replaced commit hides what is committed and pushed', async () => {
  using workspace = new GitWorkspace(programs);
  withRemotes(workspace);
  workspace.put('.gitattributes', '*.js -diff\n*.sh binary\n');
  workspace.put('attribute.js', 'steal(1)\n');
  workspace.put('attribute.sh', 'steal 2\n');
  workspace.put('nul.txt', '/*\0*/ steal(3)\n');
  workspace.plain('add', '--all');
  const every = /\+steal\(1\)[^]*\+steal 2[^]*steal\(3\)/;
  assert.match((await show(workspace, 'commit -m x')).detail, every);
  assert.equal((await agreed(workspace, 'commit -m x'))['exit_code'], 0);
  workspace.plain('replace', 'HEAD', 'HEAD~1');
  const { detail } = await show(workspace, 'push origin main');
  assert.match(detail, every);
  assert.equal((await agreed(workspace, 'push origin main'))['exit_code'], 0);
});
