import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { followStream } from '../approvals/approval-desk.ts';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyportBeside } from '../harness/run-sallyport.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { requirement } from '../requirement.ts';

const limitsYaml = `version: 1
rates: [{ tools: ['*'], per_minute: 100000 }]
repeats: { warn_at: 999, refuse_at: 1000, refuse_changes_at: 1000, window_minutes: 10 }
quarantine: { at: 100000, window_minutes: 10, denied: 1, error: 0, timeout: 0 }
anomalies:
  call_spike: { more_than: 40, window_minutes: 5 }
  repeated_failures: { failures: 8, of: 10, respond: [raise_mode] }
  combinations:
    - { id: read-write-delete, tools: [files.read, files.write, files.delete], within: 5 }
  permission_escalation: { attempts: 3, window_minutes: 5, respond: [quarantine] }
`;
// It has the shape of a credential.
const credential = ['ghp', 'Zq3vT8mK1xW6yB9nR4sL7dF2hJ5gC0pA1eUi'].join('_');

interface Shown {
  readonly id: string;
  readonly kind: string;
  readonly agent: string;
  readonly sessionId: string;
  readonly summary: string;
  readonly senior: string;
  readonly done?: readonly string[];
  readonly seenBy?: string;
  readonly sightings: number;
  readonly calls?: readonly { readonly callId: string; readonly tool: string; readonly result: string }[];
}

let place: Place;
let daemon: TestDaemon;
let receiver: WebhookReceiver;
let environment: Record<string, string>;
const closing: (() => void)[] = [];

before(async () => {
  receiver = await WebhookReceiver.open({ after: (close: () => void) => closing.push(close) });
  const notificationsYaml = `version: 1
console_url: https://gate.example.com
webhook: { url: '${receiver.url}', secret: hook, events: [anomaly] }
desktop: true
`;
  const modesYaml = 'version: 1\n';
  const files = { 'limits.yaml': limitsYaml, 'modes.yaml': modesYaml, 'notifications.yaml': notificationsYaml };
  place = ownRules(newPlace(), files);
  const shown = join(place.folder, 'shown');
  writeFileSync(join(place.folder, 'notify-send'), `#!/bin/sh\necho "$4 $5" >> '${shown}'\n`, { mode: 0o755 });
  environment = { PATH: `${place.folder}:${process.env['PATH'] ?? ''}` };
  daemon = await TestDaemon.start(place, environment);
  await daemon.call('secrets.set', { name: 'hook', value: 'shared-between-two' });
  await daemon.call('people.add', { name: 'sue' });
  await confirm('teams.put', { name: 'web', senior: 'sue' });
  await confirm('create_agent', { name: 'ada', team: 'web' });
  writeFileSync(join(place.workspace, 'a.txt'), 'a');
});
after(async () => {
  await daemon.remove();
  for (const close of closing) close();
});

async function confirm(tool: string, input: object): Promise<void> {
  const asked = await daemon.call(tool, input);
  const done = await daemon.call(tool, input, { confirmBinding: asked.denied?.approval?.binding ?? '' });
  assert.ok(done.success, JSON.stringify(done));
}

async function rpc<Answer>(method: string, body: object = {}): Promise<Answer> {
  const { status, json } = await daemon.post(`sallyport.v1.AnomalyService/${method}`, body);
  assert.equal(status, 200, JSON.stringify(json));
  return json as Answer;
}

const list = async (filter: object = {}) =>
  (await rpc<{ anomalies?: readonly Shown[] }>('ListAnomalies', filter)).anomalies ?? [];
const readMissing = (token: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => daemon.call('files.read', { path: `no-${at}.txt` }, { token })));
const nextNotice = async () => JSON.parse((await receiver.next()).body) as Record<string, unknown>;
const sallyport = (...args: readonly string[]) => runSallyportBeside(place, ['anomalies', ...args]);

let adaToken = '';
let firstId = '';

test('the senior hears once that an agent fails again and again; it is on record, and the mode is raised', async () => {
  requirement('ANOM-1');
  adaToken = await daemon.newAgent('ada');
  const target = { socketPath: daemon.operatorSocket };
  const watched = followStream<{ event: string; anomaly: Shown }>(
    target,
    'AnomalyService/WatchAnomalies',
    daemon.operatorToken,
  );
  const beside = followStream<{ event: string; anomaly?: Shown }>(
    target,
    'ApprovalService/WatchApprovals',
    daemon.operatorToken,
    { withAnomalies: true },
  );
  const heard = [watched.next(), beside.next()];
  const from = (await daemon.records()).length;
  const answers = await readMissing(adaToken, 12);
  const notice = await nextNotice();
  firstId = String(notice['anomaly_id']);
  assert.deepEqual(
    { ...notice, anomaly_id: '', session_id: '', created_at: '' },
    {
      ...{ type: 'anomaly.repeated_failures', anomaly_id: '', agent: 'ada', session_id: '', created_at: '' },
      ...{ summary: '8 of the last 10 calls failed.', done: ['raise_mode'], for: 'sue' },
      link: `https://gate.example.com/#/anomalies/${firstId}`,
    },
  );
  for (const each of await Promise.all(heard)) {
    assert.deepEqual([each.value?.event, each.value?.anomaly?.id], ['unseen', firstId]);
  }
  const events = (await daemon.records(from)).filter(({ kind }) => kind === 'event');
  assert.deepEqual(
    events.map(({ payload, callId }) => [payload['event'], callId]),
    [
      ['anomaly_detected', ''],
      ['mode_changed', ''],
    ],
  );
  assert.equal(events[0]?.payload['anomaly'], firstId);
  assert.match(String(events[1]?.payload['cause']), /^Anomaly of ada: 8 of the last 10 calls failed\.$/);
  const { anomaly } = await rpc<{ anomaly: Shown }>('GetAnomaly', { id: firstId });
  const calls = anomaly.calls ?? [];
  assert.equal(calls.length, 8);
  assert.deepEqual(new Set(calls.map(({ tool, result }) => `${tool} ${result}`)), new Set(['files.read NOT_FOUND']));
  const made = new Set(answers.map(({ callId }) => callId));
  assert.ok(calls.every(({ callId }) => made.has(callId)));
  const seen = [watched.next(), beside.next()];
  const { anomaly: acknowledged } = await rpc<{ anomaly: Shown }>('AcknowledgeAnomaly', { id: firstId });
  assert.equal(acknowledged.seenBy, 'operator');
  for (const each of await Promise.all(seen)) assert.equal(each.value?.event, 'seen');
  await Promise.all([watched.return(undefined), beside.return(undefined)]);
  const shown = join(place.folder, 'shown');
  while (!readFileSync(shown, { encoding: 'utf8', flag: 'a+' }).includes('\n')) await pause(20);
  assert.match(
    readFileSync(shown, 'utf8'),
    /^ada: repeated failures 8 of the last 10 calls failed\. The mode was raised/,
  );
});

test('after a kill in the middle of an episode nobody is told again, and another kind is another episode', async () => {
  await daemon.kill('SIGKILL');
  daemon = await TestDaemon.start(place, environment);
  await readMissing(adaToken, 12);
  const read = () => daemon.call('files.read', { path: 'a.txt' }, { token: adaToken });
  await Promise.all(Array.from({ length: 40 }, read));
  const notice = await nextNotice();
  assert.deepEqual([notice['type'], notice['agent']], ['anomaly.call_spike', 'ada']);
  const found = await list({ agent: 'ada' });
  assert.deepEqual(
    found.map(({ kind, seenBy = '' }) => [kind, seenBy]),
    [
      ['call_spike', ''],
      ['repeated_failures', 'operator'],
    ],
  );
  assert.deepEqual(receiver.left, []);
  assert.equal((await list({ unseen: true })).length, 1);
  assert.equal((await list({ kind: 'repeated_failures', sinceMs: '1' })).length, 1);
});

test('an agent that asks for what only operators may use is shut off, and writes nothing into the alert', async () => {
  requirement('ANOM-2');
  const token = await daemon.newAgent('bob');
  const hostile = `steal \u202e\u001b[2J ${credential}`;
  const strange = await daemon.call(hostile, {}, { token });
  assert.equal(strange.denied?.rationaleCode, 'UNKNOWN_TOOL');
  // A guess at what people call: the one attempt is enough.
  assert.equal((await daemon.call('secrets.list', {}, { token })).denied?.rationaleCode, 'UNKNOWN_TOOL');
  const notice = await nextNotice();
  assert.deepEqual(
    [notice['type'], notice['agent'], notice['done'], notice['for']],
    ['anomaly.permission_escalation', 'bob', ['quarantine'], 'directors'],
  );
  await assert.rejects(daemon.call('files.read', { path: 'a.txt' }, { token }), /in quarantine/);
  const events = (await daemon.records()).map(({ payload }) => payload['event']);
  const at = events.lastIndexOf('anomaly_detected');
  assert.equal(events[at + 1], 'session_quarantined');
  const { stdout } = await sallyport('show', String(notice['anomaly_id']));
  assert.match(stdout, /tried to use a tool that only people who run the gate may use/);
  assert.match(stdout, /put its session into quarantine/);

  const eve = await daemon.newAgent('eve');
  for (let count = 0; count < 10; count++) await daemon.call(hostile, {}, { token: eve });
  await nextNotice();
  const [ofEve = assert.fail()] = await list({ agent: 'eve' });
  const { anomaly } = await rpc<{ anomaly: Shown }>('GetAnomaly', { id: ofEve.id });
  const texts = JSON.stringify(anomaly);
  assert.ok(!texts.includes(credential.slice(4)), texts);
  assert.ok(!/[\u202e\u001b]|\\u001b/.test(texts), texts);
  assert.ok(!ofEve.summary.includes('steal'), 'the sentence is ours alone');
});

test('without a valid credential somebody who tries again and again is noticed', async () => {
  for (let count = 0; count < 4; count++) {
    await assert.rejects(daemon.call('files.read', { path: 'a.txt' }, { token: 'sp_made_up' }), /401/);
  }
  const notice = await nextNotice();
  assert.deepEqual([notice['type'], notice['agent']], ['anomaly.permission_escalation', '']);
});

test('the report tells per agent what happened, when, the calls behind it and what was done, in 80 columns', async () => {
  requirement('ANOM-2');
  const { stdout, status } = await sallyport('report', '--since', '1h');
  assert.equal(status, 0);
  const lines = stdout.split('\n');
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  );
  assert.equal(lines[0], '# Anomalies');
  for (const part of [
    /^## ada$/m,
    /^## bob$/m,
    /^## eve$/m,
    /^## \(no valid credential\)$/m,
    /^### Repeated failures, \d{4}-/m,
    /^- Done: alerted sue, raised the mode to ALERT$/m,
    /^- Seen: by operator, /m,
    /^ {2}- `[0-9a-f-]{36}` `files\.read` NOT_FOUND$/m,
  ]) {
    assert.match(stdout, part);
  }
  assert.ok(!stdout.includes(credential.slice(4)));
  const report = JSON.parse((await sallyport('report', '--format', 'json')).stdout) as {
    agents: { agent: string; anomalies: Shown[] }[];
  };
  assert.equal(report.agents[0]?.agent, 'ada', 'those with most come first');
  const listed = await sallyport('list', '--agent', 'ada');
  assert.match(listed.stdout, /Repeated failures\. 8 of the last 10 calls failed\./);
  const short = firstId.slice(0, 13);
  assert.match((await sallyport('show', short)).stdout, /seen by +operator/);
  assert.match((await sallyport('ack', short)).stdout, /Seen by operator\./);
  const missing = await sallyport('show', '00000000-0000-7000-8000-000000000000');
  assert.equal(missing.status, 4);
  assert.match(missing.stderr, /There is no anomaly/);
});

test('agents reach none of it, at any door', async () => {
  const token = await daemon.newAgent('mallory');
  for (const method of ['ListAnomalies', 'GetAnomaly', 'AcknowledgeAnomaly', 'ReportAnomalies', 'WatchAnomalies']) {
    const { status } = await daemon.post(`sallyport.v1.AnomalyService/${method}`, { id: firstId }, token);
    assert.notEqual(status, 200, method);
  }
  // The first of these attempts has already shut the session off.
  await assert.rejects(daemon.call('files.read', { path: 'a.txt' }, { token }), /in quarantine/);
  const another = await daemon.newAgent('trudy');
  assert.equal((await daemon.call('anomalies.list', {}, { token: another })).denied?.rationaleCode, 'UNKNOWN_TOOL');
});
