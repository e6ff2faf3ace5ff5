import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { Metadata } from '@grpc/grpc-js';
import { createClient } from '@sallyport/sdk/client';
import { callUnary, openGrpcClient, openServerStream } from '../doors/grpc-client.ts';
import { environmentOf, newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { Bridge, callTool } from '../mcp/server/bridge.ts';
import { connectPeer, peerKinds } from '../mcp/server/peers.ts';
import { modernRequest, openLegacySession } from '../mcp/server/raw-client.ts';
import { isAsleep, outcomeOf, until } from '../pipelines/pipeline-place.ts';
import { encodeElsewhere, openTypedClient } from '../protocol/typed-client.ts';
import { requirement } from '../requirement.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
const shipped = readFileSync(join(import.meta.dirname, '../../config/governance/tools.yaml'), 'utf8');
const rule = `
  - id: sleeping
    effect: allow
    tools: [shell.run]
    commands: ['sleep *', 'cat *']
    approval: waived
`;

let daemon: TestDaemon;
let token: string;
before(async () => {
  const files = {
    'tools.yaml': shipped + rule,
    'limits.yaml': 'version: 1\nrates: []\n',
    'modes.yaml': 'version: 1\n',
  };
  daemon = await TestDaemon.start(ownRules(newPlace(), files));
  token = await daemon.newAgent('ada');
});
after(() => daemon.remove());

/** A call that would run for a day, over one door. */
interface Running {
  /** What the caller does when it wants no more of it. */
  readonly leave: () => void;
  /** What it heard meanwhile. Absent: nothing can be asked for here. */
  readonly heard?: () => string;
}

/** `command` first says something on standard error. */
type Begin = (t: TestContext, command: string) => Promise<Running> | Running;

const port = (): number => Number(new URL(daemon.address).port);
const mcp = (): URL => new URL('/mcp', daemon.address);
const bearer = (): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** A plain HTTP request whose sender closes the connection. */
function post(path: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Running {
  let heard = '';
  const sent = request(new URL(path, daemon.address), {
    method: 'POST',
    agent: false,
    headers: { ...bearer(), 'content-type': 'application/json', ...headers },
  });
  sent.on('response', (response) => {
    response.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    response.on('error', () => undefined);
  });
  sent.on('error', () => undefined);
  sent.end(body);
  return { leave: () => sent.destroy(), heard: () => heard };
}

const eventStream = { accept: 'application/json, text/event-stream' };
const progressMeta = { progressToken: 'p' };

const doors: Readonly<Record<string, Begin>> = {
  'HTTP with JSON': (_t, command) => {
    const { leave } = post('/v1/calls', JSON.stringify({ tool_name: 'shell.run', arguments: { command } }));
    return { leave };
  },
  Connect: (_t, command) => {
    const { leave } = post('/sallyport.v1.ToolService/ExecuteTool', JSON.stringify(callOf(command)));
    return { leave };
  },
  'the SDK': (t, command) => {
    const client = createClient({ address: daemon.address, token });
    t.after(() => client.close());
    const leaving = new AbortController();
    let heard = '';
    client
      .callTool(
        'shell.run',
        { command },
        { signal: leaving.signal, onProgress: (news) => (heard += JSON.stringify(news)) },
      )
      .catch(() => undefined);
    return { leave: () => leaving.abort(), heard: () => heard };
  },
  'gRPC, cancelled': (t, command) => {
    const client = openGrpcClient(t, 'sallyport.v1.ToolService', port());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${token}`);
    let leave = (): void => assert.fail('the call was not made');
    const call = { name: 'shell.run', input_json: JSON.stringify({ command }) };
    callUnary(client, 'ExecuteTool', call, { metadata, onCall: (made) => (leave = () => made.cancel()) }).catch(
      () => undefined,
    );
    return { leave };
  },
  'gRPC, asking for progress': (t, command) => {
    const client = openGrpcClient(t, 'sallyport.v1.ToolService', port());
    const call = { name: 'shell.run', input_json: JSON.stringify({ command }) };
    const stream = openServerStream(client, 'ExecuteToolStream', { call }, bearer());
    let heard = '';
    stream.on('data', (news: object) => (heard += JSON.stringify(news)));
    stream.on('error', () => undefined);
    return { leave: () => stream.cancel(), heard: () => heard };
  },
  'gRPC, its connection broken': (_t, command) => {
    const session = connectHttp2(daemon.address);
    session.on('error', () => undefined);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/sallyport.v1.ToolProtocolService/Execute',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => undefined);
    const message = encodeElsewhere({ request_id: 'r', session_token: token, shell_exec: { command } });
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([head, message]));
    return { leave: () => session.destroy() };
  },
  'the typed stream': (t, command) => {
    const client = openTypedClient(port());
    t.after(() => client.close());
    const stream = client.executeStream();
    stream.on('error', () => undefined);
    stream.write({ request_id: 'r', session_token: token, shell_exec: { command } });
    return { leave: () => stream.cancel() };
  },
  'MCP, its connection broken': (_t, command) => {
    const { headers = {}, body = '' } = modernRequest('tools/call', {
      name: 'shell_run',
      arguments: { command },
      _meta: progressMeta,
    });
    return post('/mcp', body, { ...headers, ...eventStream });
  },
  'MCP in the older protocol, its connection broken': async (_t, command) => {
    const session = { 'mcp-session-id': await openLegacySession(mcp(), token) };
    const body = JSON.stringify(callTool(1, 'shell_run', { command }, progressMeta));
    return post('/mcp', body, { ...session, ...eventStream });
  },
  ...Object.fromEntries(
    peerKinds.map((kind): [string, Begin] => [
      `MCP by ${kind}, cancelled`,
      async (t, command) => {
        const peer = await connectPeer(t, kind, { url: mcp(), token });
        const leaving = new AbortController();
        let heard = '';
        const onprogress = ({ message = '' }): void => void (heard += message);
        peer.call('shell_run', { command }, { signal: leaving.signal, onprogress }).catch(() => undefined);
        return { leave: () => leaving.abort(), heard: () => heard };
      },
    ]),
  ),
  'MCP over stdio, cancelled': (t, command) =>
    runOnBridge(t, command, (bridge) =>
      bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
    ),
  'MCP over stdio, its client gone': (t, command) => runOnBridge(t, command, (bridge) => void bridge.end()),
  'MCP over stdio, killed': (t, command) => runOnBridge(t, command, (bridge) => void bridge.child.kill('SIGKILL')),
  'the command line, with Ctrl-C': (_t, command) => {
    const child = spawn(process.execPath, [program, 'tool', 'invoke', 'shell.run', `command=${command}`], {
      env: environmentOf(daemon.place, { SALLYPORT_TOKEN: token }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let heard = '';
    child.stderr.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    return { leave: () => void child.kill('SIGINT'), heard: () => heard };
  },
};

function callOf(command: string): object {
  return { name: 'shell.run', inputJson: JSON.stringify({ command }) };
}

async function runOnBridge(t: TestContext, command: string, leave: (bridge: Bridge) => void): Promise<Running> {
  const bridge = new Bridge(t, daemon.place, token);
  t.after(async () => {
    if (bridge.child.exitCode === null && bridge.child.signalCode === null) {
      bridge.child.kill('SIGKILL');
      await once(bridge.child, 'exit');
    }
  });
  await bridge.begin();
  bridge.send(callTool(1, 'shell_run', { command }, progressMeta));
  return { leave: () => leave(bridge), heard: () => bridge.lines.join('\n') };
}

let started = 0;

for (const [door, begin] of Object.entries(doors)) {
  test(`a call over ${door}: progress is heard where it can be asked for, leaving kills it and is on record`, async (t) => {
    requirement('PIPE-7');
    // Durations and names that nothing else on the machine has.
    const seconds = `8642${++started}.125`;
    const running = await begin(t, `cat none-${started}; sleep ${seconds}`);
    await until('the program runs', () => isAsleep(seconds));
    const intent = (await daemon.records()).findLast(
      ({ kind, payload }) => kind === 'intent' && JSON.stringify(payload).includes(seconds),
    );
    assert.ok(intent !== undefined, 'the intent is on record while it runs');
    const { heard } = running;
    if (heard !== undefined) {
      await until('progress is heard', () => heard().includes(`none-${started}`) && heard().includes('No such file'));
    }
    assert.equal(await outcomeOf(daemon, intent.callId), undefined);

    running.leave();
    await until('the program is gone', () => !isAsleep(seconds));
    await until('the outcome is on record', async () => (await outcomeOf(daemon, intent.callId)) !== undefined);
    const outcome = await outcomeOf(daemon, intent.callId);
    assert.match(JSON.stringify(outcome), /CANCELLED/);
  });
}
