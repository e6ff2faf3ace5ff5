import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { AgingDaemon } from '../harness/aging-daemon.ts';
import type { ErasureJson } from '../harness/aging-daemon.ts';
import { newPlace } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';

const gates: AgingDaemon[] = [];
after(() => Promise.all(gates.map(({ daemon }) => daemon.remove())));

async function openGate(limits = ''): Promise<AgingDaemon> {
  const place = liftLimits(newPlace());
  const file = join(place.home, 'governance', 'limits.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${limits}\n`);
  const gate = await AgingDaemon.start(place);
  gates.push(gate);
  return gate;
}

async function write(
  gate: AgingDaemon,
  token: string,
  text: string,
  { times = 1, path = 'a.txt' } = {},
): Promise<string> {
  let callId = '';
  for (let round = 0; round < times; round += 1) {
    const made = await gate.daemon.call('files.write', { path, content: `${text} ${round}` }, { token });
    assert.ok(made.success, JSON.stringify(made));
    ({ callId } = made);
  }
  return callId;
}

test('the rules have old payloads erased by themselves, a day after they say so', async () => {
  const text = 'ZQOLD-MATTER';
  const gate = await openGate('keep_payload_days: 1');
  const token = await gate.daemon.newAgent('ada');
  const old = await write(gate, token, text);
  const { keepPayloadDays } = gate.run<{ keepPayloadDays: number }>('audit', 'retention');
  assert.equal(keepPayloadDays, 1);
  await gate.restart({ hours: 20 });
  const newer = await write(gate, token, 'ZQNEW-MATTER', { path: 'b.txt' });
  assert.deepEqual(gate.erasures(), []);
  await gate.restart({ hours: 26 });
  const done = await gate.waitUntilDone(({ requestedBy }) => requestedBy === '');
  assert.ok(Number(done.erasedRecords) >= 2);
  assert.deepEqual(gate.filesWith(text), []);
  assert.deepEqual(gate.payloadsOf(old), ['', '']);
  assert.match(gate.payloadsOf(newer).join(), /ZQNEW-MATTER/);
  assert.deepEqual(gate.verify().problems, []);
  const { lastErasure } = gate.run<{ lastErasure: ErasureJson }>('audit', 'retention');
  assert.equal(lastErasure.erasureId, done.erasureId);
  const events = (await gate.daemon.records()).map(({ payload }) => payload['event']);
  assert.ok(events.includes('retention_changed') && events.includes('payloads_erased'));
  // Nothing more is old enough.
  await gate.restart({ hours: 27 });
  assert.equal(gate.erasures().length, 1);
});

test('killed in the middle, an erasure is finished by the next start', async () => {
  const text = 'ZQKILLED-MATTER';
  const gate = await openGate();
  const token = await gate.daemon.newAgent('ada');
  await write(gate, token, text, { times: 60 });
  gate.run<ErasureJson>('audit', 'erase', '--agent', 'ada', '--reason', 'she asked', '--yes');
  gate.setClockAhead(25);
  // Another one makes it look at the time. It is killed as soon as the first has begun; what it has done by then differs.
  const named = { agent: 'bob', reason: 'he asked' };
  const confirmBinding = (await gate.daemon.call('audit.erase', named)).denied?.approval?.binding;
  await gate.daemon.newAgent('bob');
  const asking = gate.daemon.call('audit.erase', named, { confirmBinding }).catch(() => undefined);
  while (readStatus(gate) === 'waiting') await setImmediate();
  await gate.daemon.kill('SIGKILL');
  await asking;
  await gate.restart({ hours: 25 });
  await gate.waitUntilDone(({ subject }) => subject === 'agent ada');
  assert.deepEqual(gate.filesWith(text), []);
  assert.equal(gate.search('zqkilled'), 0);
  assert.deepEqual(gate.verify().problems, []);
});

function readStatus(gate: AgingDaemon): string {
  const database = new DatabaseSync(join(gate.place.home, 'sallyport.db'), { readOnly: true, timeout: 1000 });
  try {
    return String(database.prepare('SELECT status FROM erasures ORDER BY id LIMIT 1').get()?.['status'] ?? '');
  } finally {
    database.close();
  }
}

test('old payloads go into files that are verified, searched and shown, and erasure reaches them', async () => {
  const text = 'ZQARCHIVED-MATTER';
  const gate = await openGate();
  const token = await gate.daemon.newAgent('ada');
  const callId = await write(gate, token, text, { times: 3 });
  const folder = join(gate.place.home, 'audit', 'archive');
  const before = new Date(Date.now() + 3_600_000).toISOString();
  assert.match(runSallyport(gate.place, ['audit', 'archive', '--before', before, '--yes']).stderr, /older than a day/);
  await gate.restart({ hours: 30 });
  const archived = gate.run<{ records: string; files: string[] }>('audit', 'archive', '--before', before, '--yes');
  assert.ok(Number(archived.records) > 6 && archived.files.length === 1, JSON.stringify(archived));
  const file = join(folder, archived.files[0] ?? '');
  assert.deepEqual(readdirSync(folder), archived.files);
  // The journal of undo and the trash still have theirs.
  assert.ok(readFileSync(file, 'utf8').includes(text));
  const database = new DatabaseSync(join(gate.place.home, 'sallyport.db'), { readOnly: true });
  assert.equal(database.prepare(`SELECT count(*) AS n FROM records WHERE payload LIKE '%${text}%'`).get()?.['n'], 0);
  database.close();

  assert.deepEqual([gate.verify().problems, gate.verify().archivedRecords], [[], '0']);
  assert.match(gate.payloadsOf(callId).join(), new RegExp(text));
  assert.ok(gate.search('zqarchived') >= 3);
  gate.run('audit', 'receipt', callId, join(gate.place.folder, 'receipt.json'));
  assert.ok(readFileSync(join(gate.place.folder, 'receipt.json'), 'utf8').includes(text));

  const original = readFileSync(file, 'utf8');
  writeFileSync(file, original.replace(text, 'ZQFORGED-MATTER'));
  assert.deepEqual(gate.search('zqforged'), 0, 'what does not match the log is not shown');
  assert.match(gate.verify().problems.join(), /payload and leaf do not match/);
  const lines = original
    .split('\n')
    .map((line) => (line.includes(text) ? line.replace(/"salt":.*,"tag"/, '"tag"') : line));
  writeFileSync(file, lines.join('\n'));
  assert.match(gate.verify().problems.join(), /gone from the archive, and no record of the log says/);
  renameSync(file, join(gate.place.folder, 'elsewhere'));
  const apart = gate.verify();
  assert.deepEqual([apart.problems, Number(apart.archivedRecords) > 6], [[], true]);
  const refused = runSallyport(gate.place, ['audit', 'erase', '--agent', 'ada', '--reason', 'x', '--yes']);
  assert.match(refused.stdout + refused.stderr, /is not there, so nothing in it could be erased[\s\S]*Put it back/);
  writeFileSync(file, original);

  gate.run('audit', 'erase', '--agent', 'ada', '--reason', 'she asked', '--yes');
  await gate.restart({ hours: 56 });
  await gate.waitUntilDone(() => true);
  assert.deepEqual(gate.filesWith(text), []);
  assert.ok(readFileSync(file, 'utf8').includes('sessions.create'), 'the administration stays');
  assert.deepEqual(gate.verify().problems, []);
  assert.deepEqual(gate.payloadsOf(callId), ['', '']);
});
