import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { beforeCommand, hookCommand } from '../../packages/cli/src/commands/clients/known-clients.ts';
import { ApprovalDesk } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { runHook } from './hook-program.ts';
import type { HookEnd } from './hook-program.ts';

const clients = ['claude-code', 'codex', 'gemini', 'opencode', 'cursor', 'windsurf'] as const;
type Client = (typeof clients)[number];

let daemon: TestDaemon;
let uses = 0;

before(async () => {
  daemon = await TestDaemon.start(newPlace());
  writeFileSync(join(daemon.place.workspace, '.env'), 'KEY=1\n');
  for (const client of clients) connect(daemon.place.home, client, await daemon.newAgent(client));
});
after(() => daemon.remove());

function connect(home: string, client: string, token: string, root = daemon.place.workspace): void {
  mkdirSync(join(home, 'clients'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'clients', `${client}.json`), JSON.stringify({ sessions: [{ root, token }] }), {
    mode: 0o600,
  });
}

/** A command, as each client asks about it. */
function payloadOf(client: Client, command: string): object {
  const cwd = daemon.place.workspace;
  const use = { session_id: 'chat', tool_use_id: `use-${++uses}`, cwd };
  switch (client) {
    case 'gemini':
      return { ...use, hook_event_name: 'BeforeTool', tool_name: 'run_shell_command', tool_input: { command } };
    case 'opencode':
      return { ...use, hook_event_name: 'tool.execute.before', tool_name: 'bash', tool_input: { command } };
    case 'cursor':
      return {
        ...{ conversation_id: 'chat', tool_use_id: `use-${++uses}`, workspace_roots: [cwd] },
        ...{ hook_event_name: 'preToolUse', tool_name: 'Shell', tool_input: { command } },
      };
    case 'windsurf':
      return {
        ...{ trajectory_id: 'chat', execution_id: `turn-${++uses}`, agent_action_name: 'pre_run_command' },
        tool_info: { command_line: command, cwd },
      };
    default:
      return { ...use, hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } };
  }
}

const ask = (client: Client, command: string, home = daemon.place.home): Promise<HookEnd> =>
  runHook(client, payloadOf(client, command), { SALLYPORT_HOME: home }, daemon.place.workspace);

/** By the contract of each client: everything else than this goes on, or asks the person in the client. */
function blocks({ exitCode, stdout }: HookEnd): boolean {
  return exitCode === 2 || (exitCode === 0 && /"(?:permissionDecision|decision|permission)":"deny"/.test(stdout));
}

test('many at once: each gets its own answer', async () => {
  const asked = clients.flatMap((client) =>
    ['ls', 'cat .env', 'ls', 'cat .env'].map((command) => ({ client, command, end: ask(client, command) })),
  );
  for (const { client, command, end } of asked) {
    const ended = await end;
    assert.equal(blocks(ended), command !== 'ls', `${client} ${command}: ${JSON.stringify(ended)}`);
  }
});

test('a gate that answers with nothing, with half an answer or with nonsense blocks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-gate-'));
  mkdirSync(join(folder, 'run', 'agent'), { recursive: true });
  const whole = (body: string, status = '200 OK') =>
    `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const allowed = whole('{"exitCode":0}');
  const behaviours: readonly ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.end(),
    (socket) => socket.end(allowed.slice(0, -3)),
    (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n{"exitCode":0}'),
    (socket) => socket.end(whole('not json')),
    (socket) => socket.end(whole('{"exitCode":1}')),
    (socket) => socket.end(whole('null')),
    (socket) => socket.end(whole('{"exitCode":0}', '500 Oops')),
    (socket) => void setTimeout(() => socket.destroy(), 300),
  ];
  let behave: (socket: Socket) => void = (socket) => socket.destroy();
  const gate = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => behave(socket));
  });
  await new Promise<void>((resolve) => gate.listen(join(folder, 'run', 'agent', 'sallyport.sock'), resolve));
  for (const client of clients) connect(folder, client, 'sp_x');
  for (const each of behaviours) {
    behave = each;
    for (const [at, ended] of (await Promise.all(clients.map((client) => ask(client, 'ls', folder)))).entries()) {
      assert.equal(ended.exitCode, 2, `${clients[at]} ${String(each)}: ${JSON.stringify(ended)}`);
    }
  }
  gate.close();
  rmSync(folder, { recursive: true });
});

test('payloads that make no sense block', async () => {
  const broken = [
    '{"hook_event_name":["PostToolUse"],"agent_action_name":["post_run_command"]}',
    '',
    'null',
    '7',
    '[]',
    '{}',
    '{"tool_name":"Bash"}',
    '{"hook_event_name":"PreToolUse"}',
    '{"hook_event_name":7}',
    '{"a":1,"a":2}',
    '{'.repeat(2000),
  ];
  for (const payload of broken) {
    const ends = await Promise.all(
      clients.map((client) => runHook(client, payload, { SALLYPORT_HOME: daemon.place.home }, daemon.place.workspace)),
    );
    for (const [at, ended] of ends.entries())
      assert.ok(blocks(ended), `${clients[at]} ${payload}: ${JSON.stringify(ended)}`);
  }
});

test('a program that cannot be started blocks, and does not keep a client from ending its turn', () => {
  const program = { words: ['/nowhere/node', '/nowhere/sallyport.mjs'], environment: {} };
  const run = (command: string) => spawnSync('/bin/sh', ['-c', command], { input: '{}' }).status;
  assert.equal(run(beforeCommand('claude-code', program)), 2);
  assert.notEqual(run(hookCommand('claude-code', program)), 2);
});

test('a gate that is killed while somebody is asked blocks, and so does one that starts again', async () => {
  const desk = new ApprovalDesk(daemon);
  const asking = clients.map((client) => ask(client, `rm ${client}.txt`));
  while ((await desk.pending()).length < clients.length) await new Promise((resolve) => setTimeout(resolve, 50));
  await daemon.kill('SIGKILL');
  for (const [at, ended] of (await Promise.all(asking)).entries()) {
    assert.equal(ended.exitCode, 2, `${clients[at]}: ${JSON.stringify(ended)}`);
  }
  for (const client of clients) assert.equal((await ask(client, 'ls')).exitCode, 2, client);
  const starting = TestDaemon.start(daemon.place);
  const meanwhile = Promise.all(clients.map((client) => ask(client, 'cat .env')));
  daemon = await starting;
  for (const ended of await meanwhile) assert.ok(blocks(ended), JSON.stringify(ended));
  for (const client of clients) assert.ok(!blocks(await ask(client, 'ls')), client);
});
