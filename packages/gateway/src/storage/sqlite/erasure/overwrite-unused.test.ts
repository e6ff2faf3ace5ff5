import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeFolder } from '../../../policy/test-world.ts';
import { overwriteUnused } from './overwrite-unused.ts';

/** A database in which rows were moved again and again, and then deleted or emptied, with SQLite's own overwriting. */
function makeWornDatabase(file: string, pageBytes: number): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA secure_delete = ON;
    CREATE TABLE records (position INTEGER PRIMARY KEY, payload TEXT);
    CREATE TABLE approvals (id TEXT PRIMARY KEY, card TEXT) WITHOUT ROWID;
    CREATE INDEX by_card ON approvals (card);
    CREATE TABLE long (id INTEGER PRIMARY KEY, text TEXT); BEGIN;`);
  const [record, approval] = [
    database.prepare('INSERT INTO records VALUES (?, ?)'),
    database.prepare('INSERT INTO approvals VALUES (?, ?)'),
  ];
  for (let nth = 0; nth < 3000; nth += 1) {
    record.run(nth, `private-matter-${nth} ${'x'.repeat((nth * 7) % 300)}`);
    approval.run(String((nth * 7919) % 3000), `private-matter-of-card-${nth}`);
  }
  database.prepare('INSERT INTO long VALUES (1, ?)').run('kept '.repeat(50_000));
  database.exec(`COMMIT; UPDATE records SET payload = NULL WHERE position % 3 <> 0;
    UPDATE records SET payload = 'kept' WHERE position % 3 = 0; DELETE FROM approvals WHERE CAST(id AS INTEGER) % 5 <> 0;
    UPDATE approvals SET card = 'kept ' || id;`);
  return database;
}

test('nothing that was moved, changed or deleted is left in the file, and what is kept can be read as before', () => {
  for (const pageBytes of [512, 1024, 4096]) {
    const file = join(makeFolder(), 'worn.db');
    const worn = makeWornDatabase(file, pageBytes);
    const all = (database: DatabaseSync) =>
      ['records', 'approvals', 'long'].map((table) => database.prepare(`SELECT * FROM ${table} ORDER BY 1`).all());
    const before = all(worn);
    worn.close();
    assert.ok(readFileSync(file).includes('private-matter'), `${pageBytes}: nothing to overwrite`);
    const overwritten = overwriteUnused(file);
    assert.ok(overwritten > 0);
    assert.ok(!readFileSync(file).includes('private-matter'), `${pageBytes}: something is left`);
    assert.equal(overwriteUnused(file), 0, 'the second time there is nothing left');
    const database = new DatabaseSync(file);
    assert.deepEqual(
      database
        .prepare('PRAGMA integrity_check')
        .all()
        .map((row) => Object.values(row)[0]),
      ['ok'],
    );
    assert.deepEqual(all(database), before);
    database.close();
  }
});

test('a file that is not as SQLite writes it is refused', () => {
  const file = join(makeFolder(), 'broken.db');
  makeWornDatabase(file, 4096).close();
  const whole = readFileSync(file);
  for (const [at, byte] of [
    [0, 0],
    [20, 8],
    [4096 + 5, 0xff],
    [4096 + 1, 0xff],
  ] as const) {
    const broken = Buffer.from(whole);
    broken[at] = byte;
    writeFileSync(file, broken);
    assert.throws(() => overwriteUnused(file), RangeError, `byte ${at}`);
  }
});
