import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { HookClient } from './hook-client.ts';

const root = join(import.meta.dirname, '../..');

const sandboxed = `
  - id: sandboxed
    effect: allow
    tools: [shell.run]
    origins: [client]
    commands: ['sh *', 'node *', 'printf *', 'cat *', 'touch *', 'sleep *', 'echo *', 'exit *', 'cd *']
    paths: ['$WORKSPACE/**', '/etc/**']
    rewrite: sandbox
    approval: waived
    grants: { read: ['$WORKSPACE'], write: ['$WORKSPACE/build'], limits: { cpu_seconds: 20 } }
    match: [{ tool: shell.run, origin: client, command: sh build.sh, path: '$WORKSPACE' }]
    not_match: [{ tool: shell.run, origin: builtin, command: sh build.sh, path: '$WORKSPACE' }]
  - id: sandboxed-after-asking
    effect: require_approval
    tools: [shell.run]
    origins: [client]
    commands: ['make *']
    paths: ['$WORKSPACE/**']
    rewrite: sandbox
    grants: { read: ['$WORKSPACE'] }
`;

let daemon: TestDaemon;
let client: HookClient;
let token: string;

before(async () => {
  const place = newPlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  cpSync(join(root, 'config/governance'), join(place.home, 'governance'), { recursive: true });
  const file = join(place.home, 'governance/tools.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8').trimEnd()}\n${sandboxed}`);
  daemon = await TestDaemon.start(place);
  mkdirSync(join(place.workspace, 'build'));
  mkdirSync(join(place.workspace, 'src'));
  writeFileSync(join(place.workspace, 'build.sh'), 'echo out; echo err >&2; touch build/made; exit 3\n');
  // Programs of a daemon of root belong to the owner of what they may change.
  for (const name of ['build', 'build.sh']) chownSync(join(place.workspace, name), 65534, 65534);
  token = await daemon.newAgent('claude-code');
  client = new HookClient(daemon, token);
});
after(() => daemon.remove());

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** As the client does: in its own shell. */
async function shell(command: string, credential = token, cwd = daemon.place.workspace): Promise<Ended> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    env: { PATH: '/usr/bin:/bin', SALLYPORT_TOKEN: credential },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

async function rewrite(command: string, more: object = {}): Promise<string> {
  const { permissionDecision, updatedInput } = await client.before('Bash', { command, description: 'x' }, more);
  assert.equal(permissionDecision, 'allow');
  assert.equal(updatedInput?.['description'], 'x', 'what else the client said stays');
  const instead = String(updatedInput['command']);
  assert.match(instead, / exec claude-code\.[\w-]+$/);
  assert.ok(!instead.includes(command));
  return instead;
}

async function lastCall() {
  const records = await daemon.records();
  const intent = records.findLast(({ kind, payload }) => kind === 'intent' && payload['ran_by'] === 'claude-code');
  const outcome = records.find(({ kind, callId }) => kind === 'outcome' && callId === intent?.callId);
  return { intent, outcome };
}

test('by rule, a command of the client runs in the sandbox: streamed, with its exit code, measured and on record', async () => {
  const instead = await rewrite('sh build.sh');
  const { code, stdout, stderr } = await shell(instead);
  assert.deepEqual([code, stdout, stderr], [3, 'out\n', 'err\n']);
  assert.ok(existsSync(join(daemon.place.workspace, 'build/made')));
  const { intent, outcome } = await lastCall();
  assert.deepEqual(intent?.payload['arguments'], { command: 'sh build.sh', cwd: daemon.place.workspace });
  assert.equal(outcome?.result, 'ok');
  assert.match(String(outcome.payload['summary']), /exit code 3/);
  assert.ok((outcome.payload['usage'] as { cpuMs?: number }).cpuMs !== undefined, JSON.stringify(outcome.payload));
  // The hook after it changes nothing.
  assert.equal(
    (await daemon.records()).filter(({ callId, kind }) => callId === intent?.callId && kind === 'outcome').length,
    1,
  );
});

test('the sandbox holds it: it sees and changes what the rule grants, and no secret', async () => {
  writeFileSync(join(daemon.place.workspace, 'outside.txt'), 'x');
  const changed = await shell(await rewrite('sh -c "echo y > outside.txt"'));
  assert.notEqual(changed.code, 0);
  assert.equal(readFileSync(join(daemon.place.workspace, 'outside.txt'), 'utf8'), 'x');
  const { stdout } = await shell(await rewrite('cat /etc/hostname; cat /etc/shadow; echo end'));
  assert.match(stdout, /end/);
  assert.doesNotMatch(stdout, /root:/);
});

test('what it writes comes while it runs, and killing the client ends it', async () => {
  const instead = await rewrite('echo first; sleep 600; touch build/late');
  const child = spawn('/bin/sh', ['-c', `exec env ${instead}`], {
    cwd: daemon.place.workspace,
    env: { PATH: '/usr/bin:/bin', SALLYPORT_TOKEN: token },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  for (let outcome; outcome === undefined;) ({ outcome } = await lastCall());
  const { outcome } = await lastCall();
  assert.notEqual(outcome?.result, 'ok');
});

test('a ticket is for one use, one session, one folder and the command that was judged', async () => {
  const instead = await rewrite('touch build/once');
  const other = await daemon.newAgent('claude-code');
  const stolen = await shell(instead, other);
  assert.deepEqual([stolen.code, stolen.stdout], [126, '']);
  const moved = await shell(instead, token, join(daemon.place.workspace, 'src'));
  assert.equal(moved.code, 126);
  const nobody = await shell(instead, 'sp_wrong');
  assert.equal(nobody.code, 126);
  assert.ok(!existsSync(join(daemon.place.workspace, 'build/once')));
  // What stands behind the ticket is no command.
  const [first, second] = await Promise.all([shell(`${instead} touch build/more`), shell(instead)]);
  assert.deepEqual(new Set([first.code, second.code]), new Set([0, 126]));
  assert.ok(
    existsSync(join(daemon.place.workspace, 'build/once')) && !existsSync(join(daemon.place.workspace, 'build/more')),
  );
  const again = await shell(instead);
  assert.deepEqual([again.code, again.stdout], [126, '']);
  assert.match(again.stderr, /used before/);
  for (const forged of ['claude-code.AAAA', 'x', '']) {
    assert.equal((await shell(instead.replace(/claude-code\.\S+$/, `'${forged}'`))).code, 126, forged);
  }
});

test('a ticket that the client does not use is worth nothing once its turn is over, and the record says that nothing ran', async () => {
  const instead = await rewrite('touch build/never', { session_id: 'chat-9' });
  await daemon.post(
    'v1/hooks/claude-code',
    { session_id: 'chat-9', cwd: daemon.place.workspace, hook_event_name: 'Stop' },
    token,
  );
  assert.equal((await shell(instead)).code, 126);
  assert.ok(!existsSync(join(daemon.place.workspace, 'build/never')));
  const { outcome } = await lastCall();
  assert.equal(outcome?.result, 'error');
  assert.match(JSON.stringify(outcome.payload), /did not run/);
});

test('a part that no such rule covers does not slip out of the sandbox beside one that does', async () => {
  // Looking around needs no question outside; here it goes into the sandbox with the rest.
  const { code, stdout } = await shell(await rewrite('ls build.sh && sh build.sh'));
  assert.notEqual(code, 0);
  assert.doesNotMatch(stdout, /out/, 'no folder is granted to both');
  const { permissionDecision } = await client.before('Bash', { command: 'cat .env && sh build.sh' });
  assert.equal(permissionDecision, 'deny');
});

test('a rule that asks shows on the card that it runs in the sandbox', async () => {
  const desk = new ApprovalDesk(daemon);
  const asking = client.before('Bash', { command: 'make docs' });
  let task: string | undefined;
  while (task === undefined) task = (await desk.pending())[0]?.id;
  assert.match((await desk.show(task)).effect ?? '', /runs in the sandbox of the gate/);
  await desk.approve(task);
  const { updatedInput } = await asking;
  assert.match(String(updatedInput?.['command']), / exec claude-code\./);
});

test('Codex is told in its own words', async () => {
  const codex = await daemon.newAgent('codex');
  const payload = {
    session_id: 'c1',
    cwd: daemon.place.workspace,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'sh build.sh' },
    tool_use_id: 'u1',
    turn_id: 't1',
    model: 'x',
  };
  const { json } = await daemon.post('v1/hooks/codex', payload, codex);
  const { hookSpecificOutput } = (json as { output: { hookSpecificOutput: Record<string, unknown> } }).output;
  assert.equal(hookSpecificOutput['permissionDecision'], 'allow');
  const { command } = hookSpecificOutput['updatedInput'] as { command: string };
  assert.equal((await shell(command, codex)).code, 3);
});
