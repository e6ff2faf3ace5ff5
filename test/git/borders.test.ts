import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Program, ProgramEnd } from '../../packages/sandbox/src/program.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { GitWorkspace } from './git-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

test('a .git that leads out of the allowed folders is not followed', async () => {
  using workspace = new GitWorkspace(programs);
  renameSync(workspace.at('.git'), join(workspace.outside, 'git'));
  writeFileSync(workspace.at('.git'), `gitdir: ${workspace.outside}/git\n`);
  await assert.rejects(workspace.git('status'), endsWith('UNSAFE_PATH'));
  rmSync(workspace.at('.git'));
  symlinkSync(join(workspace.outside, 'git'), workspace.at('.git'));
  await assert.rejects(workspace.git('status'), endsWith('UNSAFE_PATH'));
  rmSync(workspace.at('.git'));
  mkdirSync(workspace.at('.git'));
  writeFileSync(workspace.at('.git/commondir'), '../../outside/git\n');
  await assert.rejects(workspace.git('status'), endsWith('UNSAFE_PATH'));
  rmSync(workspace.at('.git'), { recursive: true });
  await assert.rejects(workspace.git('status'), endsWith('NOT_FOUND'));
});

test('a repository cannot name files elsewhere as its own', async () => {
  using workspace = new GitWorkspace(programs, { isolation: 'none' });
  workspace.configure(`[core]\nworktree = ${workspace.outside}`);
  await workspace.git('reset --hard topic');
  assert.deepEqual(readdirSync(workspace.outside), ['secret.txt']);
  assert.equal(workspace.text('topic.txt'), 'topic\n');
});

test('a repository inside the working directory is not taken for the one around it', async () => {
  using workspace = new GitWorkspace(programs, { isolation: 'none' });
  const evil = workspace.program('../evil');
  workspace.plain('clone', '-q', '--bare', '.', 'bare');
  workspace.configure(`[core]\nbare = false\nworktree = ..\nfsmonitor = ${evil}`, 'bare/config');
  workspace.takeMarker();
  assert.equal((await workspace.git('status', { cwd: 'bare' }))['exit_code'], 0);
  assert.ok(!workspace.takeMarker());
});

test('a fetch or pull writes to no branch or tag of the repository, whatever its refspec says', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
  workspace.plain('remote', 'add', 'origin', workspace.at('remote.git'));
  workspace.commit('not pushed yet', { 'own.txt': 'own\n' });
  const refs = (): string => workspace.plain('for-each-ref', 'refs/heads', 'refs/tags');
  const before = refs();
  for (const refspec of [
    ...['+refs/heads/*:refs/heads/*', 'refs/heads/*:refs/heads/*', '+topic:main', 'topic:new', 'topic:refs/tags/new'],
    ...['+topic', 'topic:refs/heads/x', 'topic:', 'topic:refs/remotes/', 'a:refs/remotes/x:refs/heads/y'],
    'main:refs/remotes/x/y',
  ]) {
    await assert.rejects(workspace.gitWith(['fetch', 'origin', refspec]), endsWith('INVALID_ARGUMENTS'), refspec);
    await assert.rejects(workspace.gitWith(['pull', 'origin', refspec]), endsWith('INVALID_ARGUMENTS'), refspec);
  }
  for (const refspec of [
    'topic',
    'refs/heads/topic',
    '+refs/heads/*:refs/remotes/origin/*',
    'main:refs/remotes/origin/y',
  ]) {
    assert.equal((await workspace.gitWith(['fetch', 'origin', refspec]))['exit_code'], 0, refspec);
  }
  assert.equal(refs(), before);
});

test('remotes are reached by https at granted hosts, or in allowed folders, and in no other way', async () => {
  using workspace = new GitWorkspace(programs);
  const addresses = [
    ...[
      'ssh://git@host.invalid/x',
      'git@host.invalid:x',
      'git://host.invalid/x',
      'http://host.invalid/x',
      'ext::sh -c id',
    ],
    ...[
      'https://host.invalid/x',
      'https://127.0.0.1/x',
      'https://localhost/x',
      'file:///etc',
      '/etc',
      workspace.outside,
    ],
    ...[
      'ftp://host.invalid/x',
      'fd::17/foo',
      'HTTPS://host.invalid:444/x',
      'https:///x',
      'file://host/etc',
      'file:///%zz',
      'file:///%2e%2e',
    ],
  ];
  for (const address of addresses) {
    workspace.plain('config', 'remote.origin.url', address);
    await assert.rejects(workspace.git('fetch origin'), endsWith('NO_RULE_ALLOWS'), address);
    await assert.rejects(workspace.git('push origin main'), endsWith('NO_RULE_ALLOWS'), address);
    await assert.rejects(workspace.gitWith(['clone', address, 'copy']), endsWith('NO_RULE_ALLOWS'), address);
  }
  assert.ok(!readdirSync(workspace.path).includes('copy'));
});

test('git gets the host of the remote and no other, and a token for it alone', async () => {
  const seen: Program[] = [];
  const watched = {
    run: async (
      program: Program,
      ...rest: Parameters<SpawnerClient['run']> extends [unknown, ...infer R] ? R : never
    ): Promise<ProgramEnd> => {
      seen.push(program);
      return programs.run({ ...program, hosts: [] }, ...rest);
    },
  };
  using workspace = new GitWorkspace(watched, { hosts: ['*.example.com', 'other.example.org'] });
  workspace.plain('config', 'remote.origin.url', 'https://git.example.com/x.git');
  const failed = await workspace.git('fetch', { readSecrets: () => ({ GIT_TOKEN: 'token' }) });
  assert.equal(failed['exit_code'], 128);
  const [fetching, ...more] = seen.filter(({ hosts }) => hosts.length > 0);
  assert.deepEqual([fetching?.hosts, more], [['git.example.com:443'], []]);
  assert.equal(fetching?.environment['GIT_ALLOW_PROTOCOL'], 'https');
  const settings = Object.entries(fetching?.environment ?? {}).filter(([, value]) => value.includes('xtraHeader'));
  assert.deepEqual(
    settings.map(([, value]) => value),
    ['http.https://git.example.com/.extraHeader'],
  );
  for (const { environment } of seen.filter((each) => each !== fetching)) {
    assert.equal(environment['GIT_ALLOW_PROTOCOL'], 'none');
    assert.ok(!Object.values(environment).some((value) => value.includes('Authorization')));
  }
});

test('what git sees: the repository, for reading only where it only reads; hooks and configuration frozen', async () => {
  const seen: Program[] = [];
  const watched = {
    run: (program: Program, options: Parameters<SpawnerClient['run']>[1]): Promise<ProgramEnd> => {
      seen.push(program);
      return programs.run(program, options);
    },
  };
  using workspace = new GitWorkspace(watched, {
    write: ['/usr/share'],
    environment: { GIT_AUTHOR_NAME: 'Someone', LD_PRELOAD: 'x' },
  });
  workspace.put('forbidden.txt', '');
  await workspace.git('status');
  const expected = { source: workspace.path, target: workspace.path };
  assert.deepEqual(seen.at(-1)?.mounts, [{ ...expected, access: 'read', hidden: [workspace.at('forbidden.txt')] }]);
  await workspace.git('commit --allow-empty -m x');
  const [mount, ...others] = seen.at(-1)?.mounts ?? [];
  assert.deepEqual(others, []);
  assert.equal(mount?.access, 'write');
  assert.deepEqual(mount?.frozen?.toSorted(), [workspace.at('.git/config'), workspace.at('.git/hooks')]);
  assert.equal(seen.at(-1)?.environment['LD_PRELOAD'], undefined);
  assert.equal(workspace.plain('log', '-1', '--format=%an'), 'Someone\n');
});

test('files beyond the repository are not compared, staged or read through links', async () => {
  using workspace = new GitWorkspace(programs);
  symlinkSync(workspace.outside, workspace.at('way-out'));
  const secret = join(workspace.outside, 'secret.txt');
  await assert.rejects(workspace.git(`diff ${secret} a.txt`), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(workspace.git(`diff -- ${secret} a.txt`), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(workspace.git(`add ${secret}`), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(workspace.git('diff ../outside/secret.txt a.txt'), endsWith('UNSAFE_PATH'));
  await assert.rejects(workspace.git('show HEAD:../outside/secret.txt'), endsWith('INVALID_ARGUMENTS'));
  const added = await workspace.git('add way-out/secret.txt');
  assert.notEqual(added['exit_code'], 0);
  await assert.rejects(workspace.git('commit --allow-empty -F way-out/secret.txt'), endsWith('UNSAFE_PATH'));
  assert.equal(readFileSync(secret, 'utf8'), 'secret');
});

test('nobody is asked about an operation that touches what the rules forbid, leads out or reaches a host that is not granted', async () => {
  using workspace = new GitWorkspace(programs);
  workspace.plain('config', 'remote.origin.url', 'https://host.invalid/x');
  workspace.plain('checkout', '-q', 'topic');
  workspace.commit('forbidden', { 'forbidden.txt': 'x' });
  workspace.plain('checkout', '-q', 'main');
  const ask = (command: string) => {
    const [name = '', ...args] = command.split(' ');
    return workspace.preview(workspace.tool(name), { args });
  };
  for (const command of [
    'checkout topic',
    'merge topic',
    'push origin main',
    'pull',
    'clone https://host.invalid/x copy',
  ]) {
    const [asked, run] = await Promise.allSettled([ask(command), workspace.git(command)]);
    assert.equal(run.status, 'rejected', command);
    assert.equal(asked.status, 'rejected', command);
    assert.deepEqual(asked.reason, run.reason, command);
  }
  assert.equal(workspace.plain('rev-parse', '--abbrev-ref', 'HEAD'), 'main\n');
  assert.match((await ask('commit -m x --allow-empty')).summary, /^git commit/);
  rmSync(workspace.at('.git'), { recursive: true });
  // Whether the caller learns of it is for the gate to decide.
  await assert.rejects(ask('commit -m x'), endsWith('NOT_FOUND'));
});
