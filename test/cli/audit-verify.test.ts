import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { InJson, VerifyAuditResponse } from '@sallyport/contract';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

type Report = InJson<VerifyAuditResponse>;

/** A home whose daemon has made some calls and ended. Tests work on copies. */
const original = newPlace();

before(async () => {
  const daemon = await TestDaemon.start(original);
  for (let index = 0; index < 5; index++) await daemon.call('files.write', { path: `${index}.txt`, content: 'x' });
  await daemon.kill('SIGTERM');
});
after(() => rmSync(original.folder, { recursive: true }));

function copyPlace(t: { after: (done: () => void) => void }): Place {
  const place = newPlace();
  t.after(() => rmSync(place.folder, { recursive: true }));
  cpSync(original.home, place.home, { recursive: true });
  return place;
}

function verify(place: Place, ...args: string[]): Report & { readonly exitCode: number | null } {
  const { status, stdout } = runSallyport(place, ['audit', 'verify', '--json', ...args]);
  return { ...(JSON.parse(stdout) as Report), exitCode: status };
}

function change(place: Place, sql: string): void {
  const database = new DatabaseSync(join(place.home, 'sallyport.db'));
  database.exec(sql);
  database.close();
}

function removeDatabase(place: Place): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(place.home, `sallyport.db${suffix}`), { force: true });
}

test('an intact log verifies without a daemon, and the verdict says how far it reaches', (t) => {
  requirement('AUD-3');
  const place = copyPlace(t);
  const { status, stdout } = runSallyport(place, ['audit', 'verify']);
  assert.equal(status, 0);
  assert.match(stdout, /^The log is intact\.\n {2}records +\d+\n {2}signed +all of them\n {2}root +\S{44}\n/);
  const report = verify(place);
  assert.equal(report.intact, true);
  assert.equal(report.checkpointSize, report.records);
  assert.ok(Number(report.records) >= 10, 'an intent and an outcome for each call');
});

test('a changed record is found, named, and the exit code says so', (t) => {
  requirement('AUD-3');
  const place = copyPlace(t);
  change(place, `UPDATE records SET payload = replace(payload, '2.txt', '9.txt')`);
  const report = verify(place);
  assert.equal(report.exitCode, 4);
  assert.deepEqual([...new Set(report.findings.map(({ kind }) => kind))], ['payload-changed']);
  const { status, stdout } = runSallyport(place, ['audit', 'verify']);
  assert.equal(status, 4);
  assert.match(stdout, /^The log was changed: \d findings?\.\n {2}payload-changed +Records? \d+/);
});

test('an end cut off together with its checkpoints is found through the checkpoint kept beside the database', (t) => {
  requirement('AUD-3');
  const place = copyPlace(t);
  change(place, 'DELETE FROM records WHERE position >= 4; DELETE FROM checkpoints WHERE size > 4');
  assert.ok(verify(place).findings.some(({ kind }) => kind === 'log-truncated'));
});

test('a verified history is remembered: the next verification notices what is gone since', (t) => {
  requirement('AUD-3');
  const place = copyPlace(t);
  assert.equal(verify(place).exitCode, 0);
  change(place, 'DELETE FROM records WHERE position >= 4; DELETE FROM checkpoints WHERE size > 4');
  rmSync(join(place.home, 'audit', 'checkpoint'));
  const report = verify(place);
  assert.equal(report.exitCode, 4);
  assert.ok(report.findings.some(({ kind }) => kind === 'log-truncated'));
  assert.equal(verify(place).exitCode, 4, 'a failed verification is not remembered as the truth');
});

test('a checkpoint kept elsewhere takes part, whatever happened to the home', (t) => {
  requirement('AUD-3');
  const place = copyPlace(t);
  const elsewhere = join(place.folder, 'kept');
  writeFileSync(elsewhere, readFileSync(join(place.home, 'audit', 'checkpoint')));
  change(place, 'DELETE FROM records WHERE position >= 4; DELETE FROM checkpoints');
  rmSync(join(place.home, 'audit'), { recursive: true });
  mkdirSync(join(place.home, 'audit'));
  assert.equal(verify(place, '--checkpoint', elsewhere).exitCode, 4);
});

test('a database that is gone is no fresh start when checkpoints are still there', (t) => {
  requirement('AUD-3');
  const place = copyPlace(t);
  removeDatabase(place);
  const report = verify(place);
  assert.equal(report.exitCode, 4);
  assert.equal(report.records, '0');
  assert.ok(report.findings.some(({ kind }) => kind === 'log-truncated'));
});

test('the public key can come from outside, and another key proves nothing', (t) => {
  requirement('AUD-3');
  const place = copyPlace(t);
  const { key } = verify(place);
  const file = join(place.folder, 'key');
  writeFileSync(file, `${key}\n`);
  rmSync(join(place.home, 'keys', 'audit.pub'));
  assert.equal(verify(place, '--key', key).exitCode, 0);
  assert.equal(verify(place, '--key', file).exitCode, 0);
  assert.match(runSallyport(place, ['audit', 'verify']).stderr, /public key of the log is gone.*\n.*--key/);
  const foreign = 'example.com/log+7f6c1c2c+AZHYfY0Vb6wU0pXb3cIFMFtY4VyUZ9cPvkZ8qFvGqKpM';
  assert.notEqual(runSallyport(place, ['audit', 'verify', '--key', foreign]).status, 0);
});

test('anyone who may not read the signing key still verifies what is signed', (t) => {
  const place = copyPlace(t);
  rmSync(join(place.home, 'keys', 'audit.key'));
  assert.equal(verify(place).exitCode, 0);
});

test('a file that is no database, and a home without a log, are said to be so', (t) => {
  const place = copyPlace(t);
  removeDatabase(place);
  writeFileSync(join(place.home, 'sallyport.db'), 'not a database '.repeat(1000));
  const broken = runSallyport(place, ['audit', 'verify']);
  assert.equal(broken.status, 4);
  assert.match(broken.stderr, /^Error {2}The log cannot be read: /);
  const empty = newPlace();
  t.after(() => rmSync(empty.folder, { recursive: true }));
  const none = runSallyport(empty, ['audit', 'verify']);
  assert.equal(none.status, 1);
  assert.match(none.stderr, /There is no log yet/);
});

test('state that something else changed is found beside an intact log, without a daemon', (t) => {
  requirement('AUD-3');
  const place = copyPlace(t);
  const { status, stdout } = runSallyport(place, ['audit', 'verify']);
  assert.equal(status, 0);
  assert.match(stdout, /\n {2}state +matches the log/);
  change(place, `UPDATE sessions SET agent = agent || '2'`);
  const report = verify(place);
  assert.deepEqual([report.exitCode, report.intact, report.logIntact, report.state], [4, false, true, 'changed']);
  assert.deepEqual(report.problems, ['Rows were added, changed, removed or put back in: sessions.']);
  const said = runSallyport(place, ['audit', 'verify']).stdout;
  assert.match(said, /^The log is intact, but the state beside it was changed: 1 finding\.\n {2}state +Rows were/);
});

test('state put back together with what authenticates it does not belong to the log', async (t) => {
  const place = copyPlace(t);
  const older = join(place.folder, 'older.db');
  change(place, 'PRAGMA wal_checkpoint(TRUNCATE)');
  cpSync(join(place.home, 'sallyport.db'), older);
  const daemon = await TestDaemon.start(place);
  await daemon.newAgent('late', {});
  await daemon.kill('SIGTERM');
  assert.equal(verify(place).state, 'matches');
  change(
    place,
    `ATTACH '${older}' AS older; DELETE FROM state; INSERT INTO state SELECT * FROM older.state;
     DELETE FROM leases; DELETE FROM sessions; INSERT INTO sessions SELECT * FROM older.sessions;
     INSERT INTO leases SELECT * FROM older.leases`,
  );
  const report = verify(place);
  assert.equal(report.exitCode, 4);
  assert.match(report.problems.join(), /^The state belongs to a log of \d+ records; the log has \d+\.$/);
});

test('a trigger of somebody else is found', (t) => {
  const place = copyPlace(t);
  change(place, 'CREATE TRIGGER evil AFTER INSERT ON sessions BEGIN DELETE FROM leases; END');
  assert.match(verify(place).problems.join(), /the trigger evil is not as Sallyport makes it/);
});

test('who may not read the key of the state is told that the state was not checked', (t) => {
  const place = copyPlace(t);
  rmSync(join(place.home, 'keys', 'state.key'));
  const { status, stdout } = runSallyport(place, ['audit', 'verify']);
  assert.equal(status, 0);
  assert.match(stdout, /\n {2}state +not checked: .*state\.key is missing/s);
  assert.equal(verify(place).state, 'not-checked');
});
