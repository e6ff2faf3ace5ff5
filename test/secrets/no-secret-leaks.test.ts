import assert from 'node:assert/strict';
import { appendFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Answer } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { OtlpReceiver } from '../harness/otlp-receiver.ts';
import { readExposition } from '../harness/read-exposition.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { requirement } from '../requirement.ts';
import { findLeaks, newHexKey, newKnownSecrets, writeLeaks, writeShapedLeaks } from './secret-corpus.ts';
import type { Leak } from './secret-corpus.ts';
import { repeatIt } from './test-seed.ts';

let daemon: TestDaemon;
let agent: string;
/** The gate's own key could be any trace id. */
const hexKey = newHexKey();
const known: Record<string, string> = { ...newKnownSecrets(), key: hexKey };
const fromEnvironment = 'plum quartz vexes jumbled fjord 77';
const leaks: Leak[] = [];
let collector: OtlpReceiver;
let webhooks: WebhookReceiver;
const closers: (() => void)[] = [];
/** The key itself; before it stands its name, which is public. */
const signingKeyLength = 44;
/** What the gate itself said in answers: refusals, errors, effects. Not what a tool returned. */
const said: string[] = [];
/** What a person is shown who confirms a call of their own. */
const effects: string[] = [];

before(async () => {
  const place = liftLimits(newPlace());
  const quarantine = 'quarantine: { at: 1000000, window_minutes: 1, denied: 1, error: 0, timeout: 0 }\n';
  const approvals = 'approvals: { max_pending: 1000 }\n';
  appendFileSync(join(place.home, 'governance', 'limits.yaml'), quarantine + approvals);
  collector = await OtlpReceiver.open();
  webhooks = await WebhookReceiver.open({ after: (close) => closers.push(close as () => void) });
  const notify = `version: 1\nwebhook: { url: '${webhooks.url}', secret: hook }\n`;
  writeFileSync(join(place.home, 'governance', 'notifications.yaml'), notify);
  daemon = await TestDaemon.start(place, { DEPLOY_PASSWORD: fromEnvironment, ...exporting() });
  assert.ok((await daemon.call('secrets.set', { name: 'hook', value: 'shared-between-two' })).success);
  agent = await daemon.newAgent('leaky');
  for (const [label, value] of Object.entries(known)) {
    const { success } = await daemon.call('secrets.set', { name: label, value });
    assert.ok(success, label);
    leaks.push(...writeLeaks(label, value));
  }
  const held = (path: string): string => readFileSync(join(daemon.place.home, path), 'utf8').trim();
  const ours = {
    operator: daemon.operatorToken,
    key: held('keys/audit.key').slice(-signingKeyLength),
    sealing: held('keys/secrets.key'),
  };
  for (const [label, value] of Object.entries({ ...ours, environment: fromEnvironment })) {
    leaks.push(...writeLeaks(label, value));
  }
  // Of the tokens of agents the gate has only the hashes: it knows them by their shape.
  const ofAgent = writeLeaks('agent', agent).slice(0, 5);
  leaks.push(...ofAgent.map((leak) => ({ ...leak, isKnown: false })), ...writeShapedLeaks());
});
after(async () => {
  await daemon.remove();
  await collector.close();
  for (const close of closers) close();
});

function exporting(): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${hexKey}`,
    OTEL_BSP_MAX_QUEUE_SIZE: '60000',
    OTEL_BSP_SCHEDULE_DELAY: '200',
  };
}

/** Only the effect that operators are shown of a call of their own may hold what merely looks like a secret. */
function hear({ denied, error, warnings }: Answer, who: 'operator' | 'agent' = 'operator'): void {
  const { approval, ...rest } = denied ?? {};
  const ticket = who === 'operator' ? { ...approval, effect: '' } : approval;
  if (who === 'operator') effects.push(approval?.effect ?? '');
  said.push(JSON.stringify([rest, ticket, error, warnings]));
}

async function callBoth(name: string, input: unknown, more: Record<string, unknown> = {}): Promise<void> {
  hear(await daemon.call(name, input, { token: agent, ...more }), 'agent');
  hear(await daemon.call(name, input, more));
}

async function readAllRecords(): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let portion = await daemon.records(0); portion.length > 0; portion = await daemon.records(all.length)) {
    all.push(...portion);
  }
  return all;
}

/** Of some of the calls, because there are thousands. */
async function readReceipts(): Promise<string> {
  const calls = new Set((await readAllRecords()).map((record) => (record as { callId: string }).callId));
  const receipts: string[] = [];
  for (const callId of [...calls].filter((each, at) => each !== '' && at % 10 === 0)) {
    const { json } = await daemon.post('sallyport.v1.OperatorService/GetReceipt', { callId });
    const { receiptJson } = json as { receiptJson?: string };
    assert.ok(receiptJson, JSON.stringify(json));
    // The payload is JSON inside of JSON; both are looked at.
    const { records } = JSON.parse(receiptJson) as { records: { payload?: string }[] };
    receipts.push(receiptJson, ...records.map(({ payload = '' }) => payload));
  }
  assert.ok(receipts.length > 50, String(receipts.length));
  return receipts.join('\n');
}

function exportAudit(): Buffer {
  const file = join(daemon.place.folder, 'exported.jsonl');
  const { status, stderr } = runSallyport(daemon.place, ['audit', 'export', file]);
  assert.equal(status, 0, stderr);
  return readFileSync(file);
}

/** All spans until now, as they arrived. */
async function readTraces(): Promise<string> {
  const { traceId } = await daemon.call('files.list', { path: '.' }, { token: agent });
  await collector.find((span) => span.traceId === traceId);
  assert.ok(collector.spans.length > 1000, String(collector.spans.length));
  assert.ok(collector.spans.some(({ traceState }) => traceState === undefined));
  return collector.bodies.join('\n');
}

async function readMetrics(): Promise<string> {
  const token = readFileSync(join(daemon.place.home, 'credentials', 'metrics'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}` };
  const text = await (await fetch(new URL('/metrics', daemon.address), { headers })).text();
  assert.ok(readExposition(text).samples.length > 50);
  return text;
}

async function readWebhooks(): Promise<string> {
  const first = await webhooks.next();
  return JSON.stringify([first, ...webhooks.left]);
}

/** What the pages of the console are made of, except for the effects that a person has to see. */
async function readConsole(): Promise<string> {
  const answers: unknown[] = [];
  for (const [method, request] of Object.entries({
    'OperatorService/GetStatus': {},
    'OperatorService/GetUsage': { hours: 1 },
    'OperatorService/SearchAudit': { limit: 100 },
    'SessionService/ListSessions': {},
    'CallService/ListCalls': {},
  })) {
    const { status, json } = await daemon.post(`sallyport.v1.${method}`, request);
    assert.equal(status, 200, method);
    answers.push(json);
  }
  return JSON.stringify(answers);
}

async function tryEverywhere({ text }: Leak): Promise<void> {
  await callBoth('files.write', { path: 'notes.md', content: text });
  hear(await daemon.call('files.write', { path: '.vscode/tasks.json', content: `+\n${text}\n` }));
  const name = text.length <= 60 ? text : 'files.list';
  await callBoth(name, { value: text }, { requestId: name, context: { taskId: name, correlationId: name } });
  await callBoth('files.write', { path: 'notes.md', content: 'x', [text]: { deep: [text] } });
  await callBoth('files.read', JSON.stringify({ [text]: 1 }).replace('}', `,${JSON.stringify(text)}:2}`));
  await callBoth('files.read', { path: text });
  // The remedy of this refusal is a rule, in which some signs give way to wildcards.
  await callBoth('files.read', { path: `/etc/${text}` });
}

test('secrets are tried on every way in', async () => {
  mkdirSync(join(daemon.place.workspace, '.vscode'));
  const atOnce = 8;
  for (let from = 0; from < leaks.length; from += atOnce) {
    await Promise.all(leaks.slice(from, from + atOnce).map(tryEverywhere));
  }
  assert.ok(said.some((text) => text.includes('approval')) && said.some((text) => text.includes('NOT_FOUND')));
});

test('secrets are tried as what callers say about their trace', async () => {
  const parent = '00f067aa0ba902b7';
  const inTrace = (headers: Record<string, string>) =>
    fetch(new URL('/sallyport.v1.ToolService/ExecuteTool', daemon.address), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${agent}`, ...headers },
      body: JSON.stringify({ name: 'files.list', inputJson: '{"path":"."}' }),
    });
  const { traceId } = (await (await inTrace({ traceparent: `00-${hexKey}-${parent}-01` })).json()) as Answer;
  assert.notEqual(traceId, hexKey);
  for (const { text } of leaks) {
    // What is no valid state is left out anyway.
    const value = text.replace(/^(?:it is|see) | (?:now|there)$/g, '');
    if (!/^[!-+\x2d-<>-~]{8,256}$/.test(value)) continue;
    const context = { traceparent: `00-${'ab'.repeat(16)}-${parent}-01`, tracestate: `ok=1,v=${value}` };
    assert.equal((await inTrace(context)).status, 200);
  }
});

test('effects that are shown for consent name files without the secrets in their names', async () => {
  for (const { text } of leaks) {
    const name = text.replace(/[/\0\n]/g, '').slice(0, 100);
    if (name.length < text.length) continue;
    writeFileSync(join(daemon.place.workspace, name), text);
    const answer = await daemon.call('files.delete', { path: name });
    assert.ok(answer.denied?.approval, JSON.stringify(answer));
    hear(answer);
    hear(await daemon.call('files.delete', { path: name }, { token: agent }), 'agent');
  }
});

test('values under telling names are tried too, and what an agent sends to tools of operators', async () => {
  const value = 'the password of today';
  leaks.push({ label: 'by name', text: value, isKnown: false, pieces: [value] });
  const input = { db_password: value, nested: [{ 'X-Api-Key': value, argv: ['--token', value] }] };
  await callBoth('files.read', input);
  await callBoth('secrets.set', { name: 'A', valeu: value });
  hear(await daemon.call('secrets.set', { name: 'A', value }, { token: agent }), 'agent');
  hear(await daemon.call('secrets.sett', { name: 'A', value }));
  hear(await daemon.call('secrets.set', { name: 'A', value: 'kurz' }));
  hear(await daemon.call('secrets.set', { name: 'A', value, other: 1 }));
});

test('no channel shows any piece of any of them', async () => {
  requirement('AUD-4');
  const tail = (...args: string[]): string =>
    runSallyport(daemon.place, ['audit', 'tail', '-n', '500', ...args]).stdout;
  const channels: Record<string, Buffer> = {
    answers: Buffer.from(said.join('\n')),
    records: Buffer.from(JSON.stringify(await readAllRecords())),
    'audit tail': Buffer.from(tail()),
    'audit tail --json': Buffer.from(tail('--json')),
    'audit search --as csv': Buffer.from(
      runSallyport(daemon.place, ['audit', 'search', '-n', '1000', '--as', 'csv']).stdout,
    ),
    'audit search --json': Buffer.from(runSallyport(daemon.place, ['audit', 'search', '-n', '200', '--json']).stdout),
    'audit export': exportAudit(),
    receipts: Buffer.from(await readReceipts()),
    traces: Buffer.from(await readTraces()),
    metrics: Buffer.from(await readMetrics()),
    webhooks: Buffer.from(await readWebhooks()),
    console: Buffer.from(await readConsole()),
  };
  const files = globSync('{*.db*,log/*,audit/*,run/*.lock}', { cwd: daemon.place.home });
  for (const file of files) channels[file] = readFileSync(join(daemon.place.home, file));
  for (const name of ['sallyport.db', 'sallyport.db-wal', 'log/daemon.log', 'log/calls.log', 'audit/index.db'])
    assert.ok(files.includes(name), name);

  // A piece that is in the answers as well would prove that the search works: ordinary words do.
  assert.ok(channels['sallyport.db']?.includes('notes.md') || channels['sallyport.db-wal']?.includes('notes.md'));
  const seen = Object.entries(channels).flatMap(([channel, bytes]) =>
    findLeaks(bytes, leaks).map(({ label, piece }) => `${channel} shows ${piece} of ${label}`),
  );
  assert.deepEqual(seen.slice(0, 20), [], repeatIt);
  // What only looks like a credential is shown to the one who decides; what the gate holds is not.
  const shown = await daemon.post('sallyport.v1.ApprovalService/ListApprovals', { limit: 200 });
  const held = findLeaks(
    Buffer.from(`${effects.join('\n')}${JSON.stringify(shown.json)}`),
    leaks.filter(({ isKnown }) => isKnown),
  );
  assert.deepEqual(held.slice(0, 20), [], repeatIt);
});

test('after a restart the gate still knows what it must not show', async () => {
  requirement('AUD-4');
  const { place } = daemon;
  await daemon.kill('SIGTERM');
  daemon = await TestDaemon.start(place, exporting());
  const value = known['words'] ?? '';
  const answer = await daemon.call('files.read', { path: value });
  assert.equal(answer.error?.code, 'NOT_FOUND');
  assert.ok(!JSON.stringify([answer.error, await daemon.records()]).includes(value));
});

test('what a tool returns reaches the agent as it is', async () => {
  const value = known['random'] ?? '';
  writeFileSync(join(daemon.place.workspace, 'plain.txt'), value);
  const answer = await daemon.call('files.read', { path: 'plain.txt' }, { token: agent });
  assert.match(answer.success?.outputJson ?? '', new RegExp(value));
});
