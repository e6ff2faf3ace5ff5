import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { Metadata } from '@grpc/grpc-js';
import { callUnary, openGrpcClient, openServerStream } from '../doors/grpc-client.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport, runSallyportBeside } from '../harness/run-sallyport.ts';
import { modernRequest, openLegacySession } from '../mcp/server/raw-client.ts';
import { callTool } from '../mcp/server/bridge.ts';
import { isAsleep, until } from '../pipelines/pipeline-place.ts';
import { openTypedClient } from '../protocol/typed-client.ts';
import { requirement } from '../requirement.ts';

const shipped = readFileSync(join(import.meta.dirname, '../../config/governance/tools.yaml'), 'utf8');
const rule = `
  - id: sleeping
    effect: allow
    tools: [shell.run]
    commands: ['sleep *']
    approval: waived
`;

let daemon: TestDaemon;
before(async () => {
  const files = {
    'tools.yaml': shipped + rule,
    'limits.yaml': 'version: 1\nrates: []\n',
    'modes.yaml': 'version: 1\n',
  };
  daemon = await TestDaemon.start(ownRules(newPlace(), files));
});
after(() => daemon.remove());

const port = (): number => Number(new URL(daemon.address).port);
const eventStream = { accept: 'application/json, text/event-stream' };

/** Everything that comes back, as text. Rejects when the connection breaks before an answer. */
function post(
  path: string,
  body: string | Buffer,
  token: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, daemon.address), {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', reject);
      response.on('end', () => resolve(text));
    });
    sent.end(body);
  });
}

/** A call that would run for a day, at one door; resolves with what its caller hears at the end. */
type Begin = (t: TestContext, command: string, token: string) => Promise<string>;

const doors: Readonly<Record<string, Begin>> = {
  'HTTP with JSON': (_t, command, token) =>
    post('/v1/calls', JSON.stringify({ tool_name: 'shell.run', arguments: { command } }), token),
  Connect: (_t, command, token) =>
    post('/sallyport.v1.ToolService/ExecuteTool', JSON.stringify(callOf(command)), token),
  gRPC: async (t, command, token) => {
    const client = openGrpcClient(t, 'sallyport.v1.ToolService', port());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${token}`);
    const call = { name: 'shell.run', input_json: JSON.stringify({ command }) };
    return JSON.stringify(await callUnary(client, 'ExecuteTool', call, { metadata }));
  },
  'gRPC with progress': (t, command, token) => {
    const client = openGrpcClient(t, 'sallyport.v1.ToolService', port());
    const call = { name: 'shell.run', input_json: JSON.stringify({ command }) };
    const stream = openServerStream(client, 'ExecuteToolStream', { call }, { authorization: `Bearer ${token}` });
    return heardOn(stream);
  },
  'the typed stream': (t, command, token) => {
    const client = openTypedClient(port());
    t.after(() => client.close());
    const stream = client.executeStream();
    stream.write({ request_id: 'r', session_token: token, shell_exec: { command, timeout_ms: 3_600_000 } });
    return heardOn(stream, () => stream.end());
  },
  MCP: (_t, command, token) => {
    const { headers = {}, body = '' } = modernRequest('tools/call', { name: 'shell_run', arguments: { command } });
    return post('/mcp', body, token, { ...headers, ...eventStream });
  },
  'MCP in the older protocol': async (_t, command, token) => {
    const session = { 'mcp-session-id': await openLegacySession(new URL('/mcp', daemon.address), token) };
    return post('/mcp', JSON.stringify(callTool(1, 'shell_run', { command })), token, { ...session, ...eventStream });
  },
};

function callOf(command: string): object {
  return { name: 'shell.run', inputJson: JSON.stringify({ command, timeout_ms: 3_600_000 }) };
}

interface Heard {
  on: (event: 'data' | 'error' | 'end', listener: (value: object) => void) => unknown;
}

function heardOn(stream: Heard, onData: () => void = () => undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = '';
    stream.on('data', (message) => {
      heard += JSON.stringify(message);
      onData();
    });
    stream.on('error', reject as (error: object) => void);
    stream.on('end', () => resolve(heard));
  });
}

let started = 0;

/** Durations that nothing else on the machine has. */
const nextSeconds = (): string => `7531${++started}.25`;

interface Running {
  readonly seconds: string;
  readonly heard: Promise<string>;
}

async function beginEverywhere(t: TestContext, token: string): Promise<Readonly<Record<string, Running>>> {
  const running = Object.fromEntries(
    Object.entries(doors).map(([door, begin]) => {
      const seconds = nextSeconds();
      const heard = begin(t, `sleep ${seconds}`, token);
      heard.catch(() => undefined);
      return [door, { seconds, heard }];
    }),
  );
  for (const [door, { seconds }] of Object.entries(running)) {
    await until(`the call over ${door} runs`, () => isAsleep(seconds));
  }
  return running;
}

/** The outcome of the call that slept that long. */
async function outcomeOf(seconds: string) {
  const records = await daemon.records();
  const intent = records.find(({ kind, payload }) => kind === 'intent' && JSON.stringify(payload).includes(seconds));
  return records.find(({ kind, callId }) => kind === 'outcome' && callId === intent?.callId);
}

async function assertEnded(running: Readonly<Record<string, Running>>, how: string, by: string, says: RegExp) {
  for (const [door, { seconds, heard }] of Object.entries(running)) {
    assert.match(await heard, says, `the answer at ${door}`);
    assert.ok(!isAsleep(seconds), `${door}: its program is gone`);
    const outcome = await outcomeOf(seconds);
    assert.deepEqual(outcome?.payload['ended_by'], { how, by }, door);
    assert.match(JSON.stringify(outcome.payload['error']), says, door);
  }
}

const sessionOf = async (agent: string): Promise<{ token: string; id: string }> => {
  const { success } = await daemon.call('sessions.create', { agent });
  const { token, sessionId: id } = JSON.parse(success?.outputJson ?? '{}') as { token: string; sessionId: string };
  return { token, id };
};

test('the end of a session ends its calls; callers at every door are answered, and records say who did it', async (t) => {
  requirement('PIPE-10');
  const { token, id } = await sessionOf('ada');
  const running = await beginEverywhere(t, token);
  const other = await sessionOf('bob');
  const seconds = nextSeconds();
  const spared = doors['Connect']?.(t, `sleep ${seconds}`, other.token);
  await until('the other one runs', () => isAsleep(seconds));
  const { status, stdout } = runSallyport(daemon.place, ['session', 'end', id]);
  assert.equal(status, 0, stdout);
  await assertEnded(running, 'session-end', 'operator', /operator ended the session/);
  assert.ok(isAsleep(seconds), 'the call of another session goes on');
  runSallyport(daemon.place, ['session', 'end', other.id]);
  await spared;
});

test('running calls are listed and cancelled by a person, on the command line and over RPC', async (t) => {
  requirement('PIPE-10');
  const { token, id } = await sessionOf('cy');
  const [first, second] = [nextSeconds(), nextSeconds()];
  const answers = [first, second].map((seconds) => doors['Connect']?.(t, `sleep ${seconds}`, token));
  for (const seconds of [first, second]) await until('it runs', () => isAsleep(seconds));
  const listed = JSON.parse(runSallyport(daemon.place, ['call', 'list', '--json']).stdout) as {
    calls: { callId: string; tool: string; agent: string; state: string }[];
  };
  assert.deepEqual(
    listed.calls.map(({ tool, agent, state }) => [tool, agent, state]),
    [
      ['shell.run', 'cy', 'running'],
      ['shell.run', 'cy', 'running'],
    ],
  );
  const table = runSallyport(daemon.place, ['call', 'list', '--session', id]).stdout;
  assert.match(table, /CALL +TOOL +AGENT +STATE +SINCE\n.*shell\.run +cy +running/);
  const cancelled = runSallyport(daemon.place, ['call', 'cancel', (listed.calls[0]?.callId ?? '').slice(0, 20)]);
  assert.equal(cancelled.status, 0, cancelled.stdout + cancelled.stderr);
  const rpc = await daemon.post('sallyport.v1.CallService/CancelCall', { callId: listed.calls[1]?.callId });
  assert.equal((rpc.json as { tool: string }).tool, 'shell.run');
  for (const answer of answers) assert.match((await answer) ?? '', /CANCELLED.*operator cancelled the call/);
  for (const seconds of [first, second]) {
    assert.deepEqual((await outcomeOf(seconds))?.payload['ended_by'], { how: 'cancel', by: 'operator' });
  }
  assert.match(runSallyport(daemon.place, ['call', 'list']).stdout, /No call is running/);
  const gone = runSallyport(daemon.place, ['call', 'cancel', listed.calls[0]?.callId ?? '', '--json']);
  assert.equal(gone.status, 4);
  assert.match(gone.stdout, /NOT_FOUND/);
  const byAgent = await daemon.call('calls.list', {}, { token });
  assert.equal(byAgent.denied?.rationaleCode, 'UNKNOWN_TOOL');
});

test('LOCKDOWN ends running calls with an answer at every door and a record of who began it', async (t) => {
  requirement('PIPE-10');
  const { token } = await sessionOf('dora');
  const running = await beginEverywhere(t, token);
  await daemon.call('mode.set', { mode: 'LOCKDOWN', cause: 'a test' });
  await assertEnded(running, 'lockdown', 'operator', /LOCKDOWN began \(operator\)/);
  for (const mode of ['RECOVERY', 'NORMAL']) await daemon.call('mode.set', { mode, cause: 'a test' });
});

test('a stop ends running calls, answers their callers at every door, and says who stopped the daemon', async (t) => {
  requirement('PIPE-10');
  const { token } = await sessionOf('eve');
  const running = await beginEverywhere(t, token);
  const { status, stderr } = await runSallyportBeside(daemon.place, ['stop']);
  assert.equal(status, 0, stderr);
  const heard = await Promise.all(Object.values(running).map(({ heard: answer }) => answer));
  for (const text of heard) assert.match(text, /Sallyport was stopped \(operator\)/);
  daemon = await TestDaemon.start(daemon.place);
  await assertEnded(running, 'stop', 'operator', /Sallyport was stopped \(operator\)/);
  const stopped = (await daemon.records()).find(({ payload }) => payload['event'] === 'daemon_stopped');
  assert.equal(stopped?.payload['by'], 'operator');
});

test('a signal ends the daemon the same way', async (t) => {
  requirement('PIPE-10');
  const { token } = await sessionOf('fay');
  const seconds = nextSeconds();
  const answer = doors['Connect']?.(t, `sleep ${seconds}`, token);
  await until('it runs', () => isAsleep(seconds));
  await daemon.kill('SIGTERM');
  assert.match((await answer) ?? '', /stopped \(SIGTERM\)/);
  daemon = await TestDaemon.start(daemon.place);
  assert.deepEqual((await outcomeOf(seconds))?.payload['ended_by'], { how: 'stop', by: 'SIGTERM' });
});
