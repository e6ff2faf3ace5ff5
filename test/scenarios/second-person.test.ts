import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
const skip = process.getuid?.() !== 0 && 'only root can become another user';

let daemon: TestDaemon;
const homes: string[] = [];
before(async () => {
  if (skip === false) daemon = await TestDaemon.start();
});
after(async () => {
  if (skip === false) await daemon.remove();
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

const asOwner = (...args: string[]) => runSallyport(daemon.place, args);

/** Another user of this machine, with a home of their own and nothing in common with the user of the daemon. */
class OtherUser {
  readonly home: string;
  readonly #uid: number;

  constructor(uid: number) {
    this.#uid = uid;
    this.home = mkdtempSync(join(tmpdir(), 'sallyport-user-'));
    homes.push(this.home);
    chownSync(this.home, uid, uid);
  }

  sh(script: string, input = '') {
    return this.#spawn('/bin/sh', ['-c', script], {}, input);
  }

  run(args: readonly string[], environment: Record<string, string> = { SALLYPORT_ADDRESS: daemon.address }) {
    return this.#spawn(process.execPath, [program, ...args], environment);
  }

  start(args: readonly string[]) {
    return spawn(process.execPath, [program, ...args], {
      ...this.#options({ SALLYPORT_ADDRESS: daemon.address }),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }

  #options(environment: Record<string, string>) {
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.home, ...environment };
    return { uid: this.#uid, gid: this.#uid, cwd: this.home, env };
  }

  #spawn(file: string, args: readonly string[], environment: Record<string, string>, input = '') {
    const { status, stdout, stderr } = spawnSync(file, args, {
      ...{ ...this.#options(environment), encoding: 'utf8', timeout: 60_000, input },
    });
    return { status, stdout, stderr };
  }
}

/** Lets a person in, who does what `person add` printed, word for word. */
function letIn(name: string, uid: number): { user: OtherUser; credential: string; id: string } {
  const { status, stdout, stderr } = asOwner('person', 'add', name);
  assert.equal(status, 0, stderr);
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  const [credential = ''] = /sp_[\w-]{43}/.exec(stdout) ?? [];
  const shown = stdout.split('\n').filter((line) => line.startsWith('  '));
  const steps = shown.slice(1, -1).map((line) => line.trim());
  assert.match(shown.at(-1) ?? '', /sallyport.* status$/);
  const user = new OtherUser(uid);
  const done = user.sh(steps.join('\n'), `${credential}\n`);
  assert.equal(done.status, 0, done.stderr);
  assert.ok(stdout.includes(`export SALLYPORT_ADDRESS=${daemon.address}\n`), stdout);
  const { people } = JSON.parse(asOwner('person', 'list', '--json').stdout) as {
    people: { personId: string; name: string }[];
  };
  return { user, credential, id: people.find((person) => person.name === name)?.personId ?? '' };
}

test('another user of the machine runs the gate with a credential of their own', { skip }, async () => {
  const { user } = letIn('ada', 54_331);
  const run = (...args: string[]): string => {
    const { status, stdout, stderr } = user.run(args);
    assert.equal(status, 0, `${args.join(' ')}: ${stderr}${stdout}`);
    return stdout;
  };
  assert.match(run('status'), /serving/);
  assert.match(run('tool', 'list'), /files\.read/);
  assert.match(run('person', 'list'), / ada +active /);
  assert.match(run('console'), /#code=/);
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'hello');
  assert.match(run('tool', 'invoke', 'files.read', 'path=a.txt'), /hello/);
  writeFileSync(join(user.home, 'note'), 'kept', { mode: 0o644 });
  const { hash } = JSON.parse(run('content', 'put', 'note', '--json')) as { hash: string };
  assert.equal(run('content', 'get', hash), 'kept');
  assert.match(run('audit', 'tail', '--json'), /"agent\\":\\"ada\\"/);
  assert.match(run('audit', 'verify'), /^The log is intact\.\n(.*\n)*A process of the daemon has read the log\.\n$/);
  assert.match(run('audit', 'verify', '--json'), /^\{"intact":true,.*"state":"matches"/);
  // What it finds about programs is about this user, who cannot limit them.
  assert.match(user.run(['doctor']).stdout, /ok +daemon /);

  const token = await daemon.newAgent('coder');
  const asked = await daemon.call('files.delete', { path: 'a.txt' }, { token });
  assert.equal(asked.denied?.rationaleCode, 'APPROVAL_REQUIRED', JSON.stringify(asked));
  const { approvals } = JSON.parse(run('approvals', 'list', '--json')) as { approvals: { id: string }[] };
  const task = approvals[0]?.id ?? '';
  const { approval } = JSON.parse(run('approvals', 'show', task, '--json')) as { approval: { effectSha256: string } };
  assert.match(run('approvals', 'approve', task, '--effect-sha256', approval.effectSha256), /Approved/);
  const records = await daemon.records();
  const calls = records.filter(({ kind, payload }) => kind === 'intent' && payload['agent'] === 'ada');
  assert.ok(calls.every(({ payload }) => payload['door'] === 'tcp'));
  assert.ok(calls.some(({ payload }) => payload['tool'] === 'approvals.approve'));
});

test('a person who was revoked is refused at once, also where they listen', { skip }, async () => {
  const { user, id } = letIn('eve', 54_332);
  const listening = user.start(['audit', 'tail', '--follow']);
  await once(listening.stdout, 'data');
  assert.equal(asOwner('person', 'revoke', id).status, 0);
  const { status, stderr } = user.run(['status']);
  assert.equal(status, 3, stderr);
  assert.match(stderr, /ended/);
  const [code] = (await once(listening, 'exit')) as [number];
  assert.equal(code, 3);
});

test('the port opens to nobody else', { skip }, async () => {
  const { credential } = letIn('dora', 54_333);
  const ask = async (
    token: string,
    more: Record<string, string> = {},
    path = 'sallyport.v1.OperatorService/GetStatus',
  ) => {
    const response = await fetch(`${daemon.address}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...more },
      body: '{}',
    });
    return { status: response.status, text: await response.text() };
  };
  assert.equal((await ask(credential)).status, 200);
  const first = await ask(daemon.operatorToken);
  assert.equal(first.status, 401);
  assert.match(first.text, /The first operator uses the operator socket/);
  assert.equal((await ask(await daemon.newAgent('coder'))).status, 403);
  assert.equal((await ask(credential, { origin: 'https://evil.example' })).status, 403);
  assert.equal((await ask(credential, {}, 'sallyport.v1.SessionService/ListSessions')).status, 404);
  // Leaving a console ends its session. A person who is not in one must not lose their credential by it.
  assert.equal((await ask(credential, {}, 'console/logout')).status, 403);
  // An MCP client is an agent, whatever somebody wrote into its configuration.
  const mcp = await ask(credential, { accept: 'application/json, text/event-stream' }, 'mcp');
  assert.equal(mcp.status, 401);
  assert.match(mcp.text, /the token of a session that was made for it/);
  assert.equal((await ask(credential)).status, 200);
});

test('the credential of the first operator, tried at the port, is on record like a wrong one', { skip }, async () => {
  const from = Number((await daemon.status())['logSize']);
  const { status } = await daemon.post(
    'sallyport.v1.ToolService/ExecuteTool',
    { name: 'mode.show', inputJson: '{}' },
    daemon.operatorToken,
  );
  assert.equal(status, 401);
  const [record] = (await daemon.records(from)).filter(({ kind }) => kind === 'refusal');
  assert.match(JSON.stringify(record), /WRONG_DOOR/);
});

test('without a credential, or with an address elsewhere, another user is told what to do', { skip }, () => {
  const user = new OtherUser(54_334);
  const none = user.run(['status']);
  assert.equal(none.status, 1);
  assert.match(none.stderr, /credentials\/person/);
  const foreign = user.run(['status'], { SALLYPORT_HOME: daemon.place.home });
  assert.match(foreign.stderr, /person add/);
  const file = join(user.home, 'credential');
  writeFileSync(file, `sp_${'x'.repeat(43)}\n`, { mode: 0o600 });
  chownSync(file, 54_334, 54_334);
  const credential = { SALLYPORT_CREDENTIAL_FILE: file };
  for (const address of ['http://192.0.2.1:4780', 'https://127.0.0.1:4780', 'http://127.0.0.1:4780/x', 'here']) {
    const { status, stderr } = user.run(['status'], { ...credential, SALLYPORT_ADDRESS: address });
    assert.equal(status, 1, address);
    assert.match(stderr, /SALLYPORT_ADDRESS/);
  }
  const unknown = user.run(['status'], { ...credential, SALLYPORT_ADDRESS: daemon.address });
  assert.equal(unknown.status, 3);
  const { port } = new URL(daemon.address);
  // Without an address it is the port of the machine, when the socket is out of reach.
  const byPort = user.run(['status'], { ...credential, SALLYPORT_HOME: daemon.place.home, SALLYPORT_PORT: port });
  assert.equal(byPort.status, 3, byPort.stderr);
});

test('a person stops the gate, and the command waits until it has ended', { skip }, async () => {
  const { user } = letIn('sam', 54_335);
  const { status, stdout, stderr } = user.run(['stop']);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Stopped/);
  const { place } = daemon;
  await daemon.kill('SIGTERM');
  daemon = await TestDaemon.start(place);
});
