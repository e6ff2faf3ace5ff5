import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSignedBy, verifyReceipt } from '../../packages/log/src/index.ts';
import { AgingDaemon } from '../harness/aging-daemon.ts';
import type { ErasureJson } from '../harness/aging-daemon.ts';
import { newPlace } from '../harness/daemon.ts';
import type { Answer, Place } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

/** The names of the calls behind the alerts of an agent. */
function toolsInAlerts(agent: string): string {
  const { anomalies } = gate.run<{ anomalies: { id: string }[] }>('anomalies', 'list', '--agent', agent);
  return anomalies.map(({ id }) => JSON.stringify(gate.run('anomalies', 'show', id))).join();
}

const [adas, bobs] = ['ZQADA-PRIVATE-MATTER', 'ZVBOB-PRIVATE-MATTER'];
let gate: AgingDaemon;
let place: Place;
let ada: string;
let bob: string;
let written: string;
let bobsCall: string;

const succeed = (answer: Answer): string => {
  assert.ok(answer.success, JSON.stringify(answer));
  return answer.callId;
};

/** A call that waits for a person, who is shown the name. */
async function askToDelete(token: string, path: string): Promise<string> {
  succeed(await gate.daemon.call('files.write', { path, content: 'short' }, { token }));
  const asked = await gate.daemon.call('files.delete', { path }, { token });
  assert.equal(asked.denied?.rationaleCode, 'APPROVAL_REQUIRED', JSON.stringify(asked));
  return asked.callId;
}

/** A file written, replaced and deleted, a large result, a result kept for its key, and a question to a person. */
async function leaveTraces(token: string, name: string, text: string): Promise<string> {
  const write = (content: string, dedupeKey = '') =>
    gate.daemon.call('files.write', { path: `${name}.txt`, content }, { token, dedupeKey });
  succeed(await write(`${text} one`));
  const callId = succeed(await write(`${text} two ${'x'.repeat(1_200_000)}`));
  succeed(await gate.daemon.call('files.read', { path: `${name}.txt` }, { token }));
  succeed(await write(`${text} three`));
  succeed(await gate.daemon.call('files.search', { path: '.', content: text }, { token, dedupeKey: `${name}-key` }));
  await askToDelete(token, `${text}.txt`);
  // A tool that does not exist, until somebody is told.
  const made = `made.${text.toLowerCase().replaceAll('-', '_')}`;
  for (let n = 0; n < 3; n += 1) await gate.daemon.call(made, {}, { token });
  return callId;
}

before(async () => {
  place = liftLimits(newPlace());
  const spike = 'anomalies: { quiet_minutes: 10, call_spike: { more_than: 8, window_minutes: 5 } }';
  appendFileSync(join(place.home, 'governance', 'limits.yaml'), `${spike}\n`);
  gate = await AgingDaemon.start(place);
  [ada, bob] = [await gate.daemon.newAgent('ada'), await gate.daemon.newAgent('bob')];
  written = await leaveTraces(ada, 'a', adas);
  bobsCall = await leaveTraces(bob, 'b', bobs);
});
after(() => gate.daemon.remove());

test('an agent cannot erase, and a person is shown what it means and asked', async () => {
  for (const tool of ['audit.erase', 'audit.erasures', 'audit.cancel_erasure', 'audit.archive']) {
    const answer = await gate.daemon.call(tool, { agent: 'ada', reason: 'x' }, { token: ada });
    assert.equal(answer.denied?.rationaleCode, 'UNKNOWN_TOOL', JSON.stringify(answer));
  }
  const asked = await gate.daemon.call('audit.erase', { agent: 'ada', reason: 'she asked' });
  assert.match(asked.denied?.approval?.effect ?? '', /Afterwards nobody can bring it back/);
  for (const wrong of [{}, { agent: 'ada', person: 'x' }, { agent: 'nobody' }, { call_id: 'nothing' }]) {
    const named = { ...wrong, reason: 'r' };
    const confirmBinding = (await gate.daemon.call('audit.erase', named)).denied?.approval?.binding;
    const answer = await gate.daemon.call('audit.erase', named, { confirmBinding });
    assert.ok(answer.error ?? answer.denied, JSON.stringify(answer));
  }
  assert.deepEqual(gate.erasures(), []);
});

test('an erasure waits a day, also across kill -9, is listed, and can be cancelled', async () => {
  const preview = gate.run<{ records: string; trashEntries: string }>('audit', 'erase', '--agent', 'ada', '--dry-run');
  assert.ok(Number(preview.records) >= 10 && Number(preview.trashEntries) >= 2, JSON.stringify(preview));
  const made = gate.run<ErasureJson>('audit', 'erase', '--agent', 'ada', '--reason', 'a try', '--yes');
  assert.equal(made.status, 'waiting');
  await gate.restart({ hours: 0, signal: 'SIGKILL' });
  await gate.restart({ hours: 23, signal: 'SIGKILL' });
  assert.deepEqual(
    gate.erasures().map(({ status }) => status),
    ['waiting'],
  );
  assert.equal(gate.run<ErasureJson>('audit', 'cancel-erasure', made.erasureId, '--yes').status, 'cancelled');
  await gate.restart({ hours: 25 });
  await sleep(500);
  assert.match(gate.payloadsOf(written).join(), new RegExp(adas));
  const events = (await gate.daemon.records()).map(({ payload }) => payload['event']);
  assert.ok(events.includes('erasure_requested') && events.includes('erasure_cancelled'));
  await gate.restart({ hours: 0 });
});

test('what an agent asked for and got is gone from every file of the gate, and the log still verifies', async () => {
  assert.match(toolsInAlerts('ada'), /made\.zqada_private_matter/);
  for (const file of ['sallyport.db', 'content', 'trash', 'log/calls.log']) {
    assert.ok(
      [...gate.filesWith(adas), ...gate.filesWith('zqada')].some((name) => name.startsWith(file)),
      `${file} has nothing to erase`,
    );
  }
  assert.equal(gate.search('zqada') > 0, true);
  assert.ok(
    gate.filesWith('zqada').some((name) => name.startsWith('audit/index.db')),
    'the index has the word',
  );
  const { erasureId } = gate.run<ErasureJson>('audit', 'erase', '--agent', 'ada', '--reason', 'she asked', '--yes');
  await gate.restart({ hours: 25, signal: 'SIGKILL' });
  const done = await gate.waitUntilDone((each) => each.erasureId === erasureId);
  assert.ok(Number(done.erasedRecords) >= 10);

  assert.deepEqual(gate.filesWith(adas), []);
  assert.deepEqual(gate.filesWith('zqada'), [], 'neither the index nor alerts nor the log of calls have the word');
  assert.match(toolsInAlerts('ada'), /\(erased\)/);
  assert.match(toolsInAlerts('bob'), /made\.zvbob_private_matter/);
  assert.ok(gate.filesWith(bobs).length >= 3, 'what others did stays');
  assert.equal(gate.search('zqada'), 0);
  assert.ok(gate.search('zvbob') > 0);
  assert.equal(gate.search('agent:ada', 'kind:call'), 0);
  assert.deepEqual(gate.payloadsOf(written), ['', '']);
  assert.match(runSallyport(place, ['audit', 'show', written]).stdout, /erased/);

  const verdict = gate.verify();
  assert.deepEqual([verdict.intact, verdict.erasedRecords], [true, done.erasedRecords], verdict.problems.join());
  assert.match(verdict.erasedRanges, /^\d+(-\d+)?(,\d+(-\d+)?)*$/);
  assert.match(runSallyport(place, ['audit', 'verify']).stdout, /as the log itself says/);
});

test('an export, a receipt and a proof of consistency say what was erased, and verify without the gate', async () => {
  const file = join(place.folder, 'log.jsonl');
  gate.run('audit', 'export', file);
  assert.ok(!readFileSync(file, 'utf8').includes(adas));
  const key = join(place.home, 'keys', 'audit.pub');
  const judge = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, '../../packages/log/src/main.ts'), 'verify', ...args], {
      encoding: 'utf8',
    });
  assert.match(judge(file, '--key', key).stdout, /^Intact: [\s\S]*were erased, as the log itself says/);
  const receipt = join(place.folder, 'receipt.json');
  gate.run('audit', 'receipt', written, receipt);
  const text = readFileSync(receipt, 'utf8');
  const report = await verifyReceipt(text, { verifier: readFileSync(key, 'utf8').trim(), checkSignature: isSignedBy });
  assert.deepEqual([report.intact, report.problems], [true, []]);
  assert.ok(report.records.every(({ erasedBy, payload }) => erasedBy !== undefined && payload === undefined));
  assert.match(judge(receipt, '--key', key).stdout, /its content was erased by the gate/);
  // In an export somebody took a payload out that the gate had not erased.
  const lines = readFileSync(file, 'utf8').split('\n');
  const at = lines.findIndex((line) => line.includes(bobs));
  const { salt: _, payload: __, ...left } = JSON.parse(lines[at] ?? '{}') as Record<string, unknown>;
  writeFileSync(file, lines.with(at, JSON.stringify(left)).join('\n'));
  assert.match(judge(file, '--key', key).stdout, /^Not intact[\s\S]*no record of the log says that it was erased/);
});

test('a call is erased alone, with the question to a person that it began with', async () => {
  const callId = await askToDelete(bob, `${bobs}-second`);
  const task = gate.run<{ approvals: { taskId: string; callId: string }[] }>('approvals', 'list').approvals;
  const waiting = task.find((each) => each.callId === callId);
  assert.ok(waiting, JSON.stringify(task));
  const { erasureId } = gate.run<ErasureJson>('audit', 'erase', '--call', callId, '--reason', 'a slip', '--yes');
  await gate.restart({ hours: 51 });
  await gate.waitUntilDone((each) => each.erasureId === erasureId);
  assert.equal(gate.payloadsOf(callId)[0], '');
  assert.match(gate.payloadsOf(bobsCall).join(), new RegExp(bobs), 'other calls of the session stay');
  assert.notEqual(runSallyport(place, ['approvals', 'show', waiting.taskId]).status, 0, 'the card is gone');
  assert.equal(gate.verify().intact, true);
});

test('calls that run the gate are never erased', async () => {
  const { erasureId } = gate.run<ErasureJson>('audit', 'erase', '--before', '2100-01-01', '--reason', 'all', '--yes');
  await gate.restart({ hours: 76 });
  await gate.waitUntilDone((each) => each.erasureId === erasureId);
  assert.deepEqual(gate.filesWith(bobs), []);
  const records = await gate.daemon.records();
  const left = records.filter(({ payload }) => Object.keys(payload).length > 0);
  const calls = left.filter(({ kind }) => kind !== 'event');
  const tools = new Set(calls.map(({ payload }) => payload['tool']).filter((tool) => tool !== undefined));
  for (const tool of ['audit.erase', 'sessions.create', 'audit.cancel_erasure']) assert.ok(tools.has(tool), tool);
  assert.ok(![...tools].some((tool) => /^(files|shell)\./.test(String(tool))), [...tools].join());
  const events = left.map(({ payload }) => payload['event']);
  for (const event of ['erasure_requested', 'erasure_done', 'payloads_erased', 'daemon_started']) {
    assert.ok(events.includes(event), event);
  }
  assert.equal(gate.verify().intact, true);
});

test('a payload taken out by hand is found, and so is an erasure that somebody made up', async () => {
  requirement('AUD-7');
  succeed(await gate.daemon.call('files.list', { path: '.' }, { token: bob }));
  await gate.daemon.kill('SIGTERM');
  const file = join(place.home, 'sallyport.db');
  const change = (sql: string): string => {
    const database = new DatabaseSync(file);
    database.exec(`SAVEPOINT whole; ${sql}`);
    const { n } = database.prepare('SELECT max(position) AS n FROM records').get() as { n: number };
    database.exec('RELEASE whole');
    database.close();
    assert.ok(n > 0);
    return gate.verify().problems.join(' ');
  };
  assert.equal(change(''), '', 'and SQLite has put its journal into the file');
  const original = readFileSync(file);
  const newestPayload = `(SELECT max(position) FROM records WHERE payload LIKE '%files.list%')`;
  assert.match(
    change(`UPDATE records SET salt = NULL, payload = NULL WHERE position = ${newestPayload}`),
    /no record of the log says that it was erased/,
  );
  const told = `SELECT position FROM records WHERE payload LIKE '{"event":"payloads_erased"%' ORDER BY position LIMIT 1`;
  for (const forge of [
    // A copy of a true one at the end, for another record.
    `INSERT INTO records SELECT (SELECT max(position) + 1 FROM records), leaf, salt,
       replace(payload, '"records":"', '"records":"0,'), tag FROM records WHERE position = (${told});`,
    // A true one, made to say more.
    `UPDATE records SET payload = replace(payload, '"records":"', '"records":"0,') WHERE position = (${told});`,
  ]) {
    writeFileSync(file, original);
    assert.match(
      change(`UPDATE records SET salt = NULL, payload = NULL WHERE position = 0; ${forge}`),
      /Record 0: the payload is gone/,
    );
  }
  writeFileSync(file, original);
  // The table that says where the records of removals are is state of the gate.
  assert.match(change('DELETE FROM removals'), /removals/);
  writeFileSync(file, original);
  assert.match(change(`UPDATE erasures SET status = 'waiting', due_at_ms = 0`), /erasures/);
  writeFileSync(file, original);
  assert.deepEqual(gate.verify().problems, []);
  await gate.restart({ hours: 76 });
});
