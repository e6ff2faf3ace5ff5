import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { onCopy, vandalise } from '../tampering/vandal.ts';
import { requirement } from '../requirement.ts';
import { rewriteLog } from './rewrite-log.ts';
import { TestWitness } from './test-witness.ts';

let place: Place;
let witness: TestWitness;
/** What an auditor kept: a copy of the newest checkpoint. */
let kept: string;
const at = 5;

before(async () => {
  place = newPlace();
  const daemon = await TestDaemon.start(place);
  const read = async (): Promise<void> => {
    for (let n = 0; n < 10; n += 1) await daemon.call('files.list', { path: '.', max_entries: n + 1 });
  };
  await read();
  assert.equal(runSallyport(place, ['audit', 'verify']).status, 0);
  // While it runs, as a backup program finds it; what it has not written back yet is in a second file.
  cpSync(place.home, join(place.folder, 'backup'), { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await read();
  await daemon.kill('SIGTERM');
  witness = await TestWitness.start(join(place.home, 'keys', 'audit.pub'));
  kept = join(place.folder, 'kept');
  const published = publish('--file', kept);
  assert.equal(published.status, 0, published.stderr);
});
after(async () => {
  await witness.remove();
  rmSync(place.folder, { recursive: true, force: true });
});

const publish = (...more: string[]) =>
  runSallyport(place, ['audit', 'publish', '--witness', `${witness.key}@${witness.url}`, ...more]);

function findings(...more: string[]): string[] {
  const { stdout, stderr } = runSallyport(place, ['audit', 'verify', '--json', ...more]);
  assert.notEqual(stdout, '', stderr);
  return (JSON.parse(stdout) as { findings: { kind: string }[] }).findings.map(({ kind }) => kind);
}

function isFound(kind: string, change: string): Promise<void> {
  return onCopy(place, async () => {
    assert.deepEqual(findings(), [], 'all is well before');
    vandalise(place, change);
    assert.ok(findings().includes(kind), findings().join());
  });
}

test('a changed record is found', async () => {
  requirement('AUD-3');
  await isFound(
    'payload-changed',
    `UPDATE records SET payload = replace(payload, 'list', 'read') WHERE position = ${at}`,
  );
});

test('a deleted record is found', async () => {
  requirement('AUD-3');
  await isFound('record-missing', `DELETE FROM records WHERE position = ${at}`);
});

test('an inserted record is found', async () => {
  requirement('AUD-3');
  const renumber = `UPDATE records SET position = -position - 2 WHERE position >= ${at};
    UPDATE records SET position = -position - 1 WHERE position < 0;`;
  const insert = `INSERT INTO records SELECT ${at}, leaf, salt, payload, tag FROM records WHERE position = ${at - 1}`;
  await isFound('record-moved', `${renumber} ${insert}`);
});

test('two records that changed places are found', async () => {
  requirement('AUD-3');
  await isFound(
    'record-moved',
    `UPDATE records SET position = -1 WHERE position = ${at}; UPDATE records SET position = ${at} WHERE position = ${at + 1};
     UPDATE records SET position = ${at + 1} WHERE position = -1`,
  );
});

test('a truncated log is found', async () => {
  requirement('AUD-3');
  await isFound(
    'log-truncated',
    `DELETE FROM records WHERE position > ${at}; DELETE FROM checkpoints WHERE size > ${at}`,
  );
});

test('a log put back to an old backup fits itself, and not what was kept elsewhere', async () => {
  requirement('AUD-3');
  await onCopy(place, async () => {
    rmSync(place.home, { recursive: true });
    cpSync(join(place.folder, 'backup'), place.home, { recursive: true });
    assert.deepEqual(findings(), [], 'nothing on this machine tells');
    assert.deepEqual(findings('--checkpoint', kept), ['log-truncated']);
    const { status, stderr } = publish('--file', kept);
    assert.notEqual(status, 0);
    assert.match(stderr, /w\.example saw \d+ records of this log, and the checkpoint has \d+/);
    assert.match(stderr, /a checkpoint over \d+ records that this log does not continue/);
  });
});

test('a log rewritten with the key fits itself, and not what was kept elsewhere', async () => {
  requirement('AUD-3');
  await onCopy(place, async () => {
    rewriteLog(place, at, (payload) => payload.replace('files.list', 'files.read'));
    assert.deepEqual(findings(), [], 'nothing on this machine tells');
    assert.deepEqual(findings('--checkpoint', kept), ['checkpoint-root']);
    const untouched = readFileSync(kept, 'utf8');
    assert.match(publish('--file', kept).stderr, /that this log does not continue/);
    assert.equal(readFileSync(kept, 'utf8'), untouched, 'what was kept is not replaced');
    const proof = runSallyport(place, ['audit', 'consistency', kept, join(place.folder, 'proof.json')]);
    assert.notEqual(proof.status, 0);
    assert.match(proof.stderr, /its beginning was rewritten/);
  });
});

test('another view of the log, shown to a witness, gets no signature', async () => {
  requirement('AUD-3');
  await onCopy(place, async () => {
    rewriteLog(place, at, (payload) => payload.replace('files.list', 'files.read'));
    const { status, stderr } = publish();
    assert.notEqual(status, 0);
    assert.match(stderr, /w\.example saw another history of this log/);
    assert.match(stderr, /rewritten or put back/);
  });
  assert.equal(publish().status, 0, 'the true one is still signed');
});
