import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { OtlpReceiver } from '../harness/otlp-receiver.ts';
import { readExposition } from '../harness/read-exposition.ts';
import { runSallyportBeside } from '../harness/run-sallyport.ts';
import { GateInProcess } from '../secrets/gate-in-process.ts';

let receiver: OtlpReceiver;
let gate: GateInProcess;

before(async () => {
  receiver = await OtlpReceiver.open();
  gate = await GateInProcess.open({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_BSP_MAX_QUEUE_SIZE: '40',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '20',
  });
  writeFileSync(join(gate.place.workspace, 'a.txt'), 'a');
});
after(async () => {
  await gate.close();
  await receiver.close();
});

const call = (name: string, input: object) => gate.ask('agent', { name, inputJson: JSON.stringify(input) });
const readMetrics = async () => readExposition(await gate.scrape());

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly socketPath?: string;
}

function ask({ path = '/metrics', method = 'GET', headers = {}, socketPath }: Asked): Promise<number> {
  const { hostname: host, port } = gate.address;
  return new Promise((resolve, reject) => {
    const sent = request({ ...(socketPath ? { socketPath } : { host, port }), path, method, headers, agent: false });
    sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    sent.on('error', reject);
    sent.end();
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const held = (name: string): string => readFileSync(join(gate.place.home, 'credentials', name), 'utf8').trim();

test('metrics are for operators and for who has their token; nobody else, no page, no other name of the host', async () => {
  const token = held('metrics');
  const socketPath = join(gate.place.home, 'run', 'operator', 'sallyport.sock');
  const agentSocket = join(gate.place.home, 'run', 'agent', 'sallyport.sock');
  assert.equal(statSync(join(gate.place.home, 'credentials', 'metrics')).mode & 0o777, 0o600);
  assert.equal(await ask({ headers: bearer(token) }), 200);
  assert.equal(await ask({ socketPath, headers: bearer(held('operator')) }), 200);
  assert.equal(await ask({}), 401);
  assert.equal(await ask({ headers: bearer('') }), 401);
  assert.equal(await ask({ headers: bearer(`${token}x`) }), 401);
  assert.equal(await ask({ headers: bearer(gate.token) }), 403, 'agents read nothing here');
  assert.equal(await ask({ headers: bearer(held('operator')) }), 401, 'the first operator uses the socket');
  assert.equal(await ask({ headers: { ...bearer(token), host: 'evil.example' } }), 403);
  assert.equal(await ask({ headers: { ...bearer(token), origin: 'http://evil.example' } }), 403);
  assert.equal(await ask({ socketPath: agentSocket, headers: bearer(token) }), 404);
  assert.notEqual(await ask({ method: 'POST', headers: bearer(token) }), 200);
  // It opens this page alone.
  const { status } = await fetch(new URL('/sallyport.v1.ToolService/ListAvailableTools', gate.address), {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: '{}',
  });
  assert.equal(status, 401);
});

test('calls, their time, denials by rule, queues, log, mode and the process are there', async () => {
  const earlier = await readMetrics();
  const count = (shown: typeof earlier, outcome: string, tool = 'files.read') =>
    shown.value('sallyport_tool_calls_total', { tool, outcome }) ?? 0;
  for (let at = 0; at < 3; at++) await call('files.read', { path: 'a.txt' });
  await call('files.read', { path: 'none.txt' });
  await call('files.read', { path: '/etc/shadow' });
  await call('files.delete', { path: 'a.txt' });
  const shown = await readMetrics();
  assert.deepEqual(
    ['ok', 'error', 'denied'].map((outcome) => count(shown, outcome) - count(earlier, outcome)),
    [3, 1, 1],
  );
  assert.equal(count(shown, 'pending', 'files.delete'), 1);
  const timed = 'sallyport_tool_call_duration_seconds_count';
  const tool = 'files.read';
  assert.equal((shown.value(timed, { tool }) ?? 0) - (earlier.value(timed, { tool }) ?? 0), 4);
  assert.ok(shown.samples.some(({ name, value }) => name === 'sallyport_denials_total' && value > 0));
  for (const name of ['sallyport_calls_running', 'sallyport_calls_waiting', 'sallyport_writer_queue_length'])
    assert.equal(shown.value(name, {}), 0, name);
  assert.equal(shown.value('sallyport_approvals_pending', {}), 1);
  assert.equal(shown.value('sallyport_mode', { mode: 'NORMAL' }), 1);
  assert.equal(shown.value('sallyport_mode', { mode: 'LOCKDOWN' }), 0);
  assert.equal(shown.value('sallyport_sealed', {}), 0);
  assert.ok((shown.value('sallyport_log_records', {}) ?? 0) > 8);
  assert.ok((shown.value('sallyport_database_bytes', {}) ?? 0) > 1000);
  assert.ok((shown.value('sallyport_event_loop_delay_seconds', { quantile: '0.99' }) ?? -1) >= 0);
  assert.ok((shown.value('process_resident_memory_bytes', {}) ?? 0) > 1e7);
  assert.ok((shown.value('process_start_time_seconds', {}) ?? 0) > 1.7e9);
});

test('an agent makes no series, whatever it calls', async () => {
  const earlier = (await readMetrics()).samples.length;
  const hostile = ['a"} 1\nevil 1', 'files.read{x="', '\u{1f480}', '__proto__', 'constructor', 'A'.repeat(250)];
  const names = [...hostile, ...Array.from({ length: 300 }, (_, at) => `made.up.${at}`)];
  for (let from = 0; from < names.length; from += 16) {
    const some = names.slice(from, from + 16);
    await Promise.all(some.map((name) => gate.ask('agent', { name, inputJson: '{}', requestId: name })));
  }
  const text = await gate.scrape();
  const shown = readExposition(text);
  assert.equal(shown.value('sallyport_tool_calls_total', { tool: 'unknown', outcome: 'denied' }), names.length);
  // At most the series of one tool and of two rules more.
  assert.ok(shown.samples.length - earlier < 30, `${earlier} -> ${shown.samples.length}`);
  for (const word of ['evil', 'made', '__proto__', 'AAAA', 'leaky']) assert.ok(!text.includes(word), word);
});

async function untilExport(state: 'working' | 'failing'): Promise<string> {
  for (let tries = 0; tries < 1200; tries++) {
    const { json } = await gate.post('operator', '/sallyport.v1.OperatorService/GetStatus', '{}');
    const { telemetry } = json as { telemetry: { traces: string; problem?: string } };
    if (telemetry.traces === state) return telemetry.problem ?? '';
    await call('files.read', { path: 'a.txt' });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return assert.fail(`the export was never ${state}`);
}

test('a receiver that hangs, tears, refuses or fails costs no call, and what is lost is counted', async () => {
  const dropped = async (): Promise<number> =>
    (await readMetrics()).samples
      .filter(({ name }) => name === 'sallyport_spans_dropped_total')
      .reduce((sum, { value }) => sum + value, 0);
  const expected = [
    ['hang', /no answer within 2000 ms/],
    [500, /answered 500/],
    [404, /answered 404/],
    ['tear', /ECONNRESET|hang up/],
  ] as const;
  await untilExport('working');
  for (const [behaviour, problem] of expected) {
    receiver.behaviour = 'take';
    await untilExport('working');
    const earlier = await dropped();
    receiver.behaviour = behaviour;
    const answers = await Promise.all(Array.from({ length: 60 }, () => call('files.read', { path: 'a.txt' })));
    for (const { json } of answers) assert.ok('success' in (json as object), JSON.stringify(json));
    assert.match(await untilExport('failing'), problem);
    assert.ok((await dropped()) > earlier, String(behaviour));
  }
  const failing = await runSallyportBeside(gate.place, ['status']);
  assert.match(failing.stdout, /traces +\d+ spans? sent to .*dropped\n +failing: /);
  assert.match(failing.stdout, /Spans do not reach http:\/\/127\.0\.0\.1:\d+\/v1\/traces/);
  const doctor = await runSallyportBeside(gate.place, ['doctor', '--json']);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { state: string; message: string }[] };
  assert.equal(checks.find(({ message }) => message.includes('Spans do not reach'))?.state, 'warn');
  receiver.behaviour = 'take';
  await untilExport('working');
});

test('the events of calls are a log of their own, with the ids of the trace', async () => {
  const { json } = await gate.ask('agent', { name: 'files.read', inputJson: '{"path":"a.txt"}', requestId: 'seen' });
  const { callId, traceId } = json as { callId: string; traceId: string };
  const denied = (await gate.ask('agent', { name: 'no.such.tool', inputJson: '{}' })).json as { callId: string };
  const file = join(gate.place.home, 'log', 'calls.log');
  let events: Record<string, unknown>[] = [];
  for (let tries = 0; events.at(-1)?.['call_id'] !== denied.callId; tries++) {
    assert.ok(tries < 600, 'the events never came');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }
  const ours = events.filter((event) => event['call_id'] === callId);
  assert.deepEqual(
    ours.map(({ event }) => event),
    ['tool_call_started', 'tool_call_completed'],
  );
  for (const event of ours) {
    assert.equal(event['trace_id'], traceId);
    assert.equal(event['span_id'], callId.replaceAll('-', '').slice(16));
    assert.equal(event['tool'], 'files.read');
    assert.equal(event['agent'], 'leaky');
  }
  assert.ok(Number(ours[1]?.['latency_ms']) > 0);
  const blocked = events.at(-1);
  assert.deepEqual([blocked?.['event'], blocked?.['error']], ['tool_call_blocked', 'UNKNOWN_TOOL']);
  assert.equal(typeof blocked?.['rule'], 'string');
  const { stdout } = await runSallyportBeside(gate.place, ['logs', '--calls', '-n', '3']);
  assert.match(stdout, /info +tool_call_blocked +call_id=/);
});
