import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSigningKey, deriveTagKey, openSigner, verifyLog } from '@sallyport/log';
import type { LogReport } from '@sallyport/log';
import { requirement } from '../../../../../../test/requirement.ts';
import { Database } from '../database.ts';
import { LogAppender } from './log-appender.ts';
import { openLog } from './log-reader.ts';
import { migrate } from '../migrations.ts';
import { ownText } from '../../../call/redacted.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-log-'));
after(() => rmSync(folder, { recursive: true }));

const signer = openSigner(createSigningKey('test/log').privateKey);
let logs = 0;

/** A log of six records, of which four are signed. */
function writeLog(): { file: string; database: Database; appender: LogAppender } {
  const at = join(folder, String(logs++));
  mkdirSync(at);
  const file = join(at, 'log.db');
  const database = Database.openForWriting(file);
  migrate(database);
  const appender = new LogAppender(database, signer, 'test/log', join(at, 'checkpoint'));
  for (let index = 0; index < 6; index++) {
    appender.append({
      kind: 'event',
      result: 'none',
      timeMs: 1000 + index,
      payload: ownText(JSON.stringify({ index })),
    });
    appender.committed();
    if (index === 1 || index === 3) appender.sign();
  }
  return { file, database, appender };
}

function verify(file: string): LogReport {
  const log = openLog(file);
  try {
    const keys = { verifier: signer, tagKey: deriveTagKey(signer) };
    const report = verifyLog(log, keys);
    const { records, checkpoints } = log;
    assert.deepEqual(verifyLog({ records, checkpoints }, keys), report, 'record by record says the same');
    return report;
  } finally {
    log.close();
  }
}

test('a log read from its file verifies, beyond its last checkpoint too', () => {
  requirement('AUD-3');
  const { file, database } = writeLog();
  const report = verify(file);
  assert.deepEqual([report.ok, report.size, report.checkpointSize, report.coveredByTags], [true, 6, 4, 2]);
  database.close();
  assert.equal(verify(file).ok, true, 'also after the writer has closed it');
});

test('what is written while the log is read is not seen, neither as record nor as checkpoint', () => {
  const { file, database, appender } = writeLog();
  const log = openLog(file);
  appender.append({ kind: 'event', result: 'none', timeMs: 2000, payload: ownText('{}') });
  appender.committed();
  appender.sign();
  assert.equal([...log.records()].length, 6);
  assert.deepEqual(
    [...log.checkpoints()].map(({ size }) => size),
    [2, 4],
  );
  log.close();
  assert.equal(verify(file).size, 7);
  database.close();
});

const tampering: Record<string, string> = {
  'a changed payload': `UPDATE records SET payload = '{}' WHERE position = 1`,
  'a changed leaf': `UPDATE records SET leaf = zeroblob(108) WHERE position = 2`,
  'a byte after the end of a payload': `UPDATE records SET payload = CAST(payload || x'00' AS TEXT) WHERE position = 1`,
  'a payload with bytes that are no text': `UPDATE records SET payload = CAST(x'7bff7d' AS TEXT) WHERE position = 1`,
  'a removed record': `DELETE FROM records WHERE position = 3`,
  'a removed end': `DELETE FROM records WHERE position >= 3`,
  'a salt taken away without its payload': `UPDATE records SET salt = NULL WHERE position = 1`,
  'a payload taken away without its salt': `UPDATE records SET payload = NULL WHERE position = 1`,
  'a record added by hand': `INSERT INTO records SELECT 6, leaf, salt, payload, tag FROM records WHERE position = 0`,
  'a place below the first': `UPDATE records SET position = -1 WHERE position = 5`,
  'a place below all others': `UPDATE records SET position = -9223372036854775808 WHERE position = 5`,
  'a place that no number can hold': `UPDATE records SET position = 9223372036854775807 WHERE position = 5`,
  'a checkpoint over more than a number can hold': `UPDATE checkpoints SET size = 9223372036854775807 WHERE size = 4`,
  'a changed checkpoint': `UPDATE checkpoints SET note = replace(note, 'test', 'tost') WHERE size = 4`,
};

for (const [what, sql] of Object.entries(tampering)) {
  test(`${what} is found`, () => {
    requirement('AUD-3');
    const { file, database } = writeLog();
    database.execute(sql);
    assert.equal(verify(file).ok, false);
    database.close();
  });
}

test('a table without the rules of ours cannot make the reader throw', () => {
  const { file, database } = writeLog();
  database.execute(`
    CREATE TABLE other (position, leaf, salt, payload, tag);
    INSERT INTO other SELECT * FROM records;
    UPDATE other SET position = 'x', leaf = 7, salt = 'text', payload = x'00' WHERE position = 2;
    DROP TABLE records; ALTER TABLE other RENAME TO records;`);
  assert.equal(verify(file).ok, false);
  database.close();
});

const pretenders: Record<string, string> = {
  'a view in place of the records': `ALTER TABLE records RENAME TO hidden; CREATE VIEW records AS SELECT * FROM hidden`,
  'a column that shows the same rows for ever': `
    ALTER TABLE records ADD COLUMN rowid ANY;
    UPDATE records SET rowid = 'x';`,
  'a column that hides a row': `
    ALTER TABLE records ADD COLUMN rowid ANY;
    UPDATE records SET rowid = position;
    INSERT INTO records SELECT 6, leaf, salt, payload, tag, NULL FROM records WHERE position = 0;`,
};

for (const [what, sql] of Object.entries(pretenders)) {
  test(`${what} is refused`, () => {
    requirement('AUD-3');
    const { file, database } = writeLog();
    database.execute(sql);
    assert.throws(() => verify(file), /not those that Sallyport makes/);
    database.close();
  });
}

test('payloads that are gone are found between others, and so is a change among them', () => {
  requirement('AUD-3');
  const { file, database } = writeLog();
  database.execute('UPDATE records SET salt = NULL, payload = NULL WHERE position IN (1, 4)');
  const { erased, findings: gone } = verify(file);
  assert.equal(erased, 0);
  assert.deepEqual(
    gone.map(({ kind, fromIndex }) => `${kind} ${fromIndex}`),
    ['payload-missing 1', 'payload-missing 4'],
  );
  database.execute(`UPDATE records SET payload = '{"index": 3}' WHERE position = 3`);
  const { findings } = verify(file);
  assert.deepEqual(
    findings.map(({ kind, fromIndex }) => `${kind} ${fromIndex}`),
    ['payload-missing 1', 'payload-changed 3', 'payload-missing 4'],
  );
  database.close();
});

test('a log longer than one portion is read whole', () => {
  const { file, database, appender } = writeLog();
  for (let index = 6; index < 1234; index++) {
    appender.append({ kind: 'event', result: 'none', timeMs: index, payload: ownText('{}') });
  }
  appender.committed();
  appender.sign();
  const report = verify(file);
  assert.deepEqual([report.ok, report.size, report.checkpointSize], [true, 1234, 1234]);
  database.close();
});

test('a file that is missing or no database is an error of the one who reads', () => {
  assert.throws(() => openLog(join(folder, 'none.db')));
});
