import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace } from '../harness/daemon.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
const isPossible = process.getuid?.() === 0 && existsSync('/usr/bin/setpriv') && existsSync('/etc/group');
const skip = isPossible ? false : 'only root can become other users';
/** Any group of the machine, with users who are in it and who are not. */
const group = isPossible ? (/^(games|daemon|users):[^:]*:(\d+):/m.exec(readFileSync('/etc/group', 'utf8')) ?? []) : [];
const gate = 54_001;
const agent = 54_002;
const stranger = 54_003;

function as(uid: number, groups: string, command: readonly string[]): readonly [string, readonly string[]] {
  const inGroups = groups === '' ? ['--clear-groups'] : ['--groups', groups];
  return ['/usr/bin/setpriv', ['--reuid', String(uid), '--regid', String(uid), ...inGroups, ...command]];
}

test('a gate under its own user serves agents of a group, who can read nothing of it', { skip }, async (t) => {
  const [, name = '', gid = ''] = group;
  const { folder } = newPlace();
  const [state, sockets] = [join(folder, 'state'), join(folder, 'sockets')];
  for (const [path, mode] of [
    [state, 0o700],
    [join(state, 'workspace'), 0o700],
    [sockets, 0o711],
  ] as const) {
    mkdirSync(path);
    chmodSync(path, mode);
    chownSync(path, gate, gate);
  }
  const home = join(state, 'gate');
  const env = {
    ...{ PATH: '/usr/bin:/bin', HOME: state, SALLYPORT_HOME: home, SALLYPORT_SOCKETS: sockets, SALLYPORT_PORT: '0' },
    ...{ SALLYPORT_WORKSPACE: join(state, 'workspace'), SALLYPORT_AGENT_GROUP: name },
  };
  const run = (uid: number, groups: string, command: readonly string[], more: Record<string, string>) => {
    const [file, args] = as(uid, groups, command);
    return spawnSync(file, args, { env: more, cwd: '/', encoding: 'utf8', timeout: 60_000 });
  };
  const [file, args] = as(gate, gid, [process.execPath, program, 'up', '--json']);
  const daemon = spawn(file, args, { env, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => {
    const ended = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await once(daemon.stdout, 'data');
  const open = (who: string): string => {
    const created = run(gate, '', [process.execPath, program, 'session', 'create', who, '--json'], env);
    return (JSON.parse(created.stdout) as { token: string }).token;
  };
  const token = open('bot');
  open('another');
  const caller = {
    PATH: '/usr/bin:/bin',
    HOME: '/nonexistent',
    SALLYPORT_HOME: '/nonexistent',
    SALLYPORT_SOCKETS: sockets,
  };
  const call = (uid: number, groups: string) =>
    run(uid, groups, [process.execPath, program, 'tool', 'invoke', 'files.list', 'path=.'], {
      ...caller,
      SALLYPORT_TOKEN: token,
    });
  const served = call(agent, gid);
  assert.equal(served.status, 0, served.stderr);
  assert.notEqual(call(stranger, '').status, 0, 'the socket is for the group');

  const closed = [
    state,
    home,
    join(home, 'sallyport.db'),
    join(home, 'keys/audit.key'),
    join(home, 'credentials/operator'),
  ];
  for (const path of [...closed, join(sockets, 'operator'), `/proc/${daemon.pid}/environ`]) {
    for (const command of [
      ['cat', path],
      ['ls', path],
    ]) {
      const { status, stdout } = run(agent, gid, command, caller);
      // The name of a file of /proc is no secret.
      assert.ok(status !== 0 || stdout.trim() === path, `${command.join(' ')}: ${stdout}`);
    }
  }
});

test(
  'a program of another user at the port of the gate is not sent the credential of a person',
  { skip },
  async (t) => {
    const { folder } = newPlace();
    const credential = join(folder, 'credential');
    writeFileSync(credential, 'spp_not-a-real-credential\n', { mode: 0o600 });
    const squat =
      "require('net').createServer((s) => s.on('data', () => console.log('GOT IT'))).listen(0, '127.0.0.1', function () { console.log(this.address().port) })";
    const [file, args] = as(stranger, '', [process.execPath, '-e', squat]);
    const squatter = spawn(file, args, { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => {
      squatter.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });
    let heard = '';
    squatter.stdout.on('data', (data: Buffer) => (heard += data.toString()));
    while (!heard.includes('\n')) await once(squatter.stdout, 'data');
    const port = heard.trim();
    const command = [process.execPath, program, 'status'];
    const { status, stderr } = spawnSync(command[0] ?? '', command.slice(1), {
      env: {
        ...{ PATH: '/usr/bin:/bin', HOME: folder, SALLYPORT_HOME: join(folder, 'none') },
        ...{ SALLYPORT_ADDRESS: `http://127.0.0.1:${port}`, SALLYPORT_CREDENTIAL_FILE: credential },
      },
      cwd: '/',
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.equal(status, 2, stderr);
    assert.match(stderr, new RegExp(`held by user ${stranger}.*not sent`, 's'));
    assert.equal(heard.trim(), port, 'nothing was sent');
  },
);
