import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Metadata } from '@grpc/grpc-js';
import { createClient } from '../../packages/sdk/src/client.ts';
import { shellProgram, writeProgram } from '../cli/tool-place.ts';
import { callUnary, openGrpcClient } from '../doors/grpc-client.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { OtlpReceiver } from '../harness/otlp-receiver.ts';
import type { ReceivedSpan } from '../harness/otlp-receiver.ts';
import { readExposition } from '../harness/read-exposition.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { runHook } from '../hooks/hook-program.ts';
import { Bridge, callTool } from '../mcp/server/bridge.ts';
import { modernRequest, openLegacySession, sendRaw } from '../mcp/server/raw-client.ts';
import { openTypedClient } from '../protocol/typed-client.ts';
import { requirement } from '../requirement.ts';

let receiver: OtlpReceiver;
let daemon: TestDaemon;
let token: string;

const shipped = join(import.meta.dirname, '../../config/governance');
const rules = `
  - { id: traced-tool, effect: allow, tools: [trace.show], origins: [executable], approval: waived }
  - { id: traced-server, effect: allow, tools: ['demo.*'], origins: [upstream], approval: waived }
  - { id: traced-shell, effect: allow, tools: [shell.run], approval: waived }
`;

/** Answers with what the gate told it about the trace. */
const server = `import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    return send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'demo', version: '1' } } });
  if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'meta', inputSchema: { type: 'object' } }] } });
  if (method !== 'tools/call') return id === undefined ? undefined : send({ id, result: {} });
  const { traceparent = 'none' } = params._meta ?? {};
  send({ id, result: { content: [{ type: 'text', text: traceparent }] } });
});
`;

before(async () => {
  receiver = await OtlpReceiver.open();
  const place = newPlace();
  cpSync(shipped, join(place.home, 'governance'), { recursive: true });
  appendFileSync(join(place.home, 'governance', 'tools.yaml'), rules);
  writeProgram(place, 'trace.show', shellProgram('trace.show', `printf '{"traceparent":"%s"}' "$TRACEPARENT"`));
  writeFileSync(join(place.folder, 'server.mjs'), server);
  writeFileSync(join(place.workspace, 'a.txt'), 'a');
  daemon = await TestDaemon.start(place, {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=tell%20nobody',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_SERVICE_NAME: 'the gate',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  token = await daemon.newAgent('tracer');
});
after(async () => {
  await daemon.remove();
  await receiver.close();
});

interface Context {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceparent: string;
}

function newContext(flags = '01'): Context {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

const callSpan = (traceId: string): Promise<ReceivedSpan> =>
  receiver.find((span) => span.traceId === traceId && span.name.startsWith('execute_tool '));

async function assertContinued({ traceId, spanId }: Context, tool = 'files.read'): Promise<ReceivedSpan> {
  const span = await callSpan(traceId);
  assert.equal(span.parentSpanId, spanId);
  assert.equal(span.name, `execute_tool ${tool}`);
  return span;
}

const url = (path: string): URL => new URL(path, daemon.address);
const executeTool = '/sallyport.v1.ToolService/ExecuteTool';
const readFile = JSON.stringify({ name: 'files.read', inputJson: '{"path":"a.txt"}' });

test('HTTP: a call continues the trace of its headers, with the attributes of the GenAI conventions', async () => {
  const context = newContext();
  const headers = { traceparent: context.traceparent, tracestate: 'vendor=opaque, other=1' };
  const body = JSON.stringify({ name: 'files.read', inputJson: '{"path":"a.txt"}', requestId: 'call_7' });
  const { status, text } = await sendRaw(url(executeTool), { token, headers, body });
  assert.equal(status, 200);
  const { callId, traceId } = JSON.parse(text) as { callId: string; traceId: string };
  assert.equal(traceId, context.traceId);
  const span = await assertContinued(context);
  assert.equal(span.spanId, callId.replaceAll('-', '').slice(16));
  assert.equal(span.traceState, 'vendor=opaque,other=1');
  assert.equal(span.kind, 1);
  assert.deepEqual(span.status, {});
  assert.partialDeepStrictEqual(span.attributes, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'files.read',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': 'call_7',
    'gen_ai.agent.name': 'tracer',
    'sallyport.call.id': callId,
    'sallyport.door': 'tcp',
    'sallyport.outcome': 'ok',
  });
  const tookMs = (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6;
  assert.ok(tookMs > 0 && tookMs < 60_000, String(tookMs));
  assert.ok(Math.abs(Number(span.startTimeUnixNano) / 1e6 - Date.now()) < 300_000);
  assert.partialDeepStrictEqual(receiver.resource, {
    'service.name': 'the gate',
    'deployment.environment.name': 'test',
    'telemetry.sdk.language': 'nodejs',
  });
  assert.equal(receiver.headers.at(-1)?.['x-api-key'], 'tell nobody');
  assert.deepEqual(receiver.faults, []);
});

test('HTTP: the other published forms continue it too, by header or by body', async () => {
  const [one, two] = [newContext(), newContext()];
  const call = { tool_name: 'files.read', arguments: { path: 'a.txt' } };
  const body = JSON.stringify(call);
  await sendRaw(url('/v1/calls'), { token, headers: { traceparent: one.traceparent }, body });
  await assertContinued(one);
  const { traceId, spanId } = two;
  const named = JSON.stringify({ ...call, trace_ctx: { trace_id: traceId, span_id: spanId } });
  await sendRaw(url('/v1/calls'), { token, body: named });
  await assertContinued(two);
});

test('gRPC: both services continue the trace of the metadata', async (t) => {
  const [one, two] = [newContext(), newContext()];
  const port = Number(url('/').port);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  metadata.set('traceparent', one.traceparent);
  const client = openGrpcClient(t, 'sallyport.v1.ToolService', port);
  await callUnary(client, 'ExecuteTool', { name: 'files.read', input_json: '{"path":"a.txt"}' }, { metadata });
  await assertContinued(one);
  const typed = openTypedClient(port);
  t.after(() => typed.close());
  const request = {
    request_id: 'r-1',
    session_token: token,
    file_read: { path: join(daemon.place.workspace, 'a.txt') },
  };
  const answer = await typed.execute(request, { headers: { traceparent: two.traceparent } });
  assert.equal(answer.result, 'success', JSON.stringify(answer));
  await assertContinued(two);
});

test('MCP over HTTP: the trace of a message goes before the one of its request', async () => {
  const [one, two, outer] = [newContext(), newContext(), newContext()];
  const session = await openLegacySession(url('/mcp'), token);
  const params = { name: 'files_read', arguments: { path: 'a.txt' } };
  const send = async (meta: object, traceparent: string): Promise<void> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } });
    const { messages, text } = await sendRaw(url('/mcp'), {
      token,
      headers: { 'mcp-session-id': session, traceparent },
      body,
    });
    assert.ok(
      messages.some(({ result }) => result !== undefined),
      text,
    );
  };
  await send({ traceparent: one.traceparent, tracestate: 'v=1' }, outer.traceparent);
  assert.equal((await assertContinued(one)).traceState, 'v=1');
  await send({}, two.traceparent);
  await assertContinued(two);
  const modern = newContext();
  const sent = modernRequest('tools/call', { ...params, _meta: { traceparent: modern.traceparent } });
  assert.equal((await sendRaw(url('/mcp'), { token, ...sent })).status, 200);
  await assertContinued(modern);
});

test('MCP over stdio: by the message, and by the environment of the bridge', async (t) => {
  const [one, two] = [newContext(), newContext()];
  const bridge = new Bridge(t, daemon.place, token, [], { TRACEPARENT: two.traceparent });
  await bridge.begin();
  const call = callTool(1, 'files_read', { path: 'a.txt' }) as { params: object };
  bridge.send({ ...call, params: { ...call.params, _meta: { traceparent: one.traceparent } } });
  await bridge.answer(1);
  await assertContinued(one);
  bridge.send({ ...call, id: 2 });
  await bridge.answer(2);
  await assertContinued(two);
  await bridge.end();
});

test('hooks and commands continue the trace that they were started in', async () => {
  const [one, two] = [newContext(), newContext('00')];
  const folder = join(daemon.place.home, 'clients');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sessions = [{ root: daemon.place.workspace, token }];
  writeFileSync(join(folder, 'claude-code.json'), JSON.stringify({ sessions }), { mode: 0o600 });
  const use = {
    ...{ session_id: 'chat', cwd: daemon.place.workspace, tool_use_id: 'use-1', tool_name: 'Read' },
    tool_input: { file_path: join(daemon.place.workspace, 'a.txt') },
  };
  const environment = { SALLYPORT_HOME: daemon.place.home, TRACEPARENT: one.traceparent };
  for (const event of ['PreToolUse', 'PostToolUse']) {
    const { exitCode, stderr } = await runHook('claude-code', { ...use, hook_event_name: event }, environment);
    assert.equal(exitCode, 0, stderr);
  }
  const span = await assertContinued(one);
  assert.equal(span.attributes['gen_ai.tool.call.id'], 'use-1');

  const invoke = ['tool', 'invoke', 'files.read', 'path=a.txt', '--json'];
  const { stdout } = runSallyport(daemon.place, invoke, { TRACEPARENT: two.traceparent });
  assert.equal((JSON.parse(stdout) as { trace_id: string }).trace_id, two.traceId);
  // Its caller does not follow the trace, and so nobody does.
  const next = newContext();
  await sendRaw(url(executeTool), { token, headers: { traceparent: next.traceparent }, body: readFile });
  await assertContinued(next);
  assert.ok(!receiver.spans.some(({ traceId }) => traceId === two.traceId));
  const broken = runSallyport(daemon.place, invoke, { TRACEPARENT: 'x\r\nevil: 1' });
  assert.equal(broken.status, 0, broken.stderr);
});

test('SDK: each call has the span that the program says, also over one stream', async (t) => {
  const contexts = Array.from({ length: 6 }, () => newContext());
  let current: Context | undefined;
  const client = createClient({ address: daemon.address, token, currentTrace: () => current });
  t.after(() => client.close());
  for (const context of contexts) {
    current = context;
    await client.callTool('files.read', { path: 'a.txt' });
    // The stream is opened beside the second call.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const context of contexts) await assertContinued(context);
  const own = newContext();
  await client.callTool('files.read', { path: 'a.txt' }, { trace: own });
  await assertContinued(own);
});

test('refused and failed calls are spans too, with the rule and the code, and no word of the caller', async () => {
  const send = async (body: object): Promise<ReceivedSpan> => {
    const context = newContext();
    const headers = { traceparent: context.traceparent };
    await sendRaw(url(executeTool), { token, headers, body: JSON.stringify(body) });
    return callSpan(context.traceId);
  };
  const denied = await send({ name: 'files.read', inputJson: '{"path":"/etc/shadow"}' });
  assert.equal(denied.status.code, 2);
  assert.equal(denied.attributes['sallyport.outcome'], 'denied');
  assert.ok(denied.attributes['sallyport.rule'] && denied.attributes['error.type'], JSON.stringify(denied));
  const missing = await send({ name: 'files.read', inputJson: '{"path":"none.txt"}' });
  assert.equal(missing.attributes['error.type'], 'NOT_FOUND');
  const unknown = await send({ name: 'please.run.me', inputJson: '{}' });
  assert.equal(unknown.name, 'execute_tool unknown');
  assert.equal(unknown.attributes['error.type'], 'UNKNOWN_TOOL');
  const malformed = await send({ name: 'n'.repeat(300), inputJson: '{}' });
  assert.equal(malformed.attributes['error.type'], 'MALFORMED_CALL');
  for (const word of ['shadow', 'none.txt', 'please', 'nnnn']) {
    assert.ok(!receiver.bodies.some((body) => body.includes(word)), word);
  }
});

test('a stage that took long is a span inside of the span of its call', async () => {
  const context = newContext();
  const headers = { traceparent: context.traceparent };
  const body = JSON.stringify({ name: 'shell.run', inputJson: '{"command":"sleep 0.05"}' });
  await sendRaw(url(executeTool), { token, headers, body });
  const call = await assertContinued(context, 'shell.run');
  const stage = await receiver.find(({ traceId, name }) => traceId === context.traceId && name === 'execute-tool');
  assert.equal(stage.parentSpanId, call.spanId);
  assert.ok(Number(stage.endTimeUnixNano) - Number(stage.startTimeUnixNano) > 40e6);
  assert.ok(Number(stage.startTimeUnixNano) >= Number(call.startTimeUnixNano));
  assert.ok(Number(stage.endTimeUnixNano) <= Number(call.endTimeUnixNano) + 1000);
  assert.ok(!receiver.spans.some(({ name }) => name === 'check-lease'), 'what takes microseconds is no span');
});

test('programs learn the span of their call from the environment', async () => {
  const context = newContext();
  const headers = { traceparent: context.traceparent };
  const run = async (name: string, input: object): Promise<Record<string, unknown>> => {
    for (let tries = 0; ; tries++) {
      const body = JSON.stringify({ name, inputJson: JSON.stringify(input) });
      const { text } = await sendRaw(url(executeTool), { token, headers, body });
      const answer = JSON.parse(text) as {
        success?: { outputJson: string };
        denied?: { rationaleCode: string };
        callId: string;
      };
      if (answer.success !== undefined) {
        return { ...(JSON.parse(answer.success.outputJson) as object), callId: answer.callId };
      }
      // The first look at the tools folder takes a moment, and so does accepting its tools.
      const isComing = ['UNKNOWN_TOOL', 'TOOL_NOT_ACCEPTED', 'TOOL_STARTING'].includes(
        answer.denied?.rationaleCode ?? '',
      );
      if (!isComing || tries > 300) assert.fail(text);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const expected = (callId: unknown): string =>
    `00-${context.traceId}-${String(callId).replaceAll('-', '').slice(16)}-01`;
  const { traceparent, callId } = await run('trace.show', {});
  assert.equal(traceparent, expected(callId));
  const again = await run('trace.show', {});
  assert.equal(again['traceparent'], expected(again['callId']), 'not the span of the call before');
  const shell = await run('shell.run', { command: 'printenv TRACEPARENT' });
  assert.equal(String(shell['stdout']).trim(), expected(shell['callId']));
});

test('servers behind the gate learn it from the message', async () => {
  const { place } = daemon;
  const script = join(place.folder, 'server.mjs');
  const added = runSallyport(place, ['upstream', 'add', 'demo', '--yes', '--read', script, '--', 'node', script]);
  assert.equal(added.status, 0, added.stdout + added.stderr);
  // What it offers is known once it has answered.
  for (const words of [
    ['test', 'demo'],
    ['accept', 'demo', '--yes'],
  ]) {
    const { status, stdout, stderr } = runSallyport(place, ['upstream', ...words]);
    assert.equal(status, 0, stdout + stderr);
  }
  const context = newContext();
  const body = JSON.stringify({ name: 'demo.meta', inputJson: '{}' });
  const headers = { traceparent: context.traceparent };
  const { text } = await sendRaw(url(executeTool), { token, headers, body });
  const span = await assertContinued(context, 'demo.meta');
  assert.ok(text.includes(`00-${context.traceId}-${span.spanId}-01`), text);
});

test('a traceparent that is not valid begins another trace, and costs the call nothing', async () => {
  const valid = newContext();
  const hostile = [
    'x',
    `00-${'0'.repeat(32)}-${valid.spanId}-01`,
    `00-${valid.traceId}-${'0'.repeat(16)}-01`,
    `ff-${valid.traceId}-${valid.spanId}-01`,
    `00-${valid.traceId.toUpperCase()}-${valid.spanId}-01`,
    `00-${valid.traceId}-${valid.spanId}-01-more`,
    '-'.repeat(3000),
    `00-${'a'.repeat(7000)}`,
  ];
  const traces = new Set<string>();
  for (const traceparent of hostile) {
    const headers = { traceparent, tracestate: '='.repeat(3000) };
    const { status, text } = await sendRaw(url(executeTool), { token, headers, body: readFile });
    assert.equal(status, 200, text);
    const answer = JSON.parse(text) as { traceId: string; success?: object };
    assert.ok(answer.success, text);
    traces.add(answer.traceId);
    const span = await callSpan(answer.traceId);
    assert.deepEqual([span.parentSpanId, span.traceState], [undefined, undefined]);
  }
  assert.equal(traces.size, hostile.length);
  assert.ok(!traces.has(valid.traceId));
});

/** Waits until an event of this name about this call is in the log. */
async function findEvent(event: string, callId: string): Promise<Record<string, unknown>> {
  for (let tries = 0; tries < 600; tries++) {
    const lines = readFileSync(join(daemon.place.home, 'log', 'calls.log'), 'utf8')
      .trimEnd()
      .split('\n');
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const found = events.find((each) => each['event'] === event && each['call_id'] === callId);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return assert.fail(`no ${event} of ${callId}`);
}

async function readMetrics() {
  const secret = readFileSync(join(daemon.place.home, 'credentials', 'metrics'), 'utf8').trim();
  const response = await fetch(url('/metrics'), { headers: { authorization: `Bearer ${secret}` } });
  return readExposition(await response.text());
}

test('calls that succeed, fail and are denied are each seen as events, as a span and in metrics', async () => {
  requirement('AUD-6');
  const earlier = await readMetrics();
  const expected = [
    ['{"path":"a.txt"}', ['tool_call_started', 'tool_call_completed'], 'ok'],
    ['{"path":"none.txt"}', ['tool_call_started', 'tool_call_failed'], 'error'],
    ['{"path":"/etc/shadow"}', ['tool_call_blocked'], 'denied'],
  ] as const;
  const labels = (outcome: string) => ({ tool: 'files.read', outcome });
  let denial: Record<string, string> = {};
  for (const [inputJson, names, outcome] of expected) {
    const context = newContext();
    const headers = { traceparent: context.traceparent };
    const body = JSON.stringify({ name: 'files.read', inputJson });
    const { text } = await sendRaw(url(executeTool), { token, headers, body });
    const { callId } = JSON.parse(text) as { callId: string };
    const span = await assertContinued(context);
    assert.equal(span.attributes['sallyport.outcome'], outcome);
    for (const name of names) {
      const event = await findEvent(name, callId);
      assert.deepEqual(
        [event['trace_id'], event['span_id'], event['parent_span_id']],
        [context.traceId, span.spanId, context.spanId],
      );
      assert.equal(event['error'], name === 'tool_call_started' ? undefined : span.attributes['error.type']);
      assert.equal(event['rule'], span.attributes['sallyport.rule']);
      assert.equal(typeof event['latency_ms'], name === 'tool_call_started' ? 'undefined' : 'number');
    }
    if (outcome === 'denied')
      denial = { rule: span.attributes['sallyport.rule'] ?? '', code: span.attributes['error.type'] ?? '' };
  }
  const shown = await readMetrics();
  const grown = (name: string, of: Record<string, string>) =>
    (shown.value(name, of) ?? 0) - (earlier.value(name, of) ?? 0);
  for (const [, , outcome] of expected) assert.equal(grown('sallyport_tool_calls_total', labels(outcome)), 1, outcome);
  assert.equal(grown('sallyport_tool_call_duration_seconds_count', { tool: 'files.read' }), 2);
  assert.equal(grown('sallyport_denials_total', denial), 1);
  for (const name of ['sallyport_calls_running', 'sallyport_calls_waiting', 'sallyport_approvals_pending'])
    assert.equal(typeof shown.value(name, {}), 'number', name);
});

test('what the gate says about itself: spans sent, and where', async () => {
  const { stdout } = runSallyport(daemon.place, ['status']);
  assert.match(stdout, new RegExp(`traces +\\d+ spans sent to ${receiver.url}/v1/traces\\n`));
  const { checks } = JSON.parse(runSallyport(daemon.place, ['doctor', '--json']).stdout) as {
    checks: { name: string; state: string }[];
  };
  assert.equal(checks.find(({ name }) => name === 'traces')?.state, 'ok');
});
