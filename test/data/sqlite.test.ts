import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { Databases } from '../../packages/gateway/src/catalogue/data/databases.ts';
import { databaseTools } from '../../packages/gateway/src/catalogue/data/index.ts';
import { endsWith } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { requirement } from '../requirement.ts';
import { SandboxedWorkspace } from '../shell/sandboxed-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

function openShop(more = '') {
  const workspace = new SandboxedWorkspace(programs);
  const file = workspace.at('shop.db');
  const writer = new DatabaseSync(file);
  writer.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, picture BLOB, note);
    CREATE INDEX names ON items (name);
    INSERT INTO items VALUES (1, 'chair', 12.5, x'00ff', NULL), (9007199254740993, 'table', 99, NULL, 'é');`);
  writer.close();
  const settings = join(workspace.base, 'databases.yaml');
  writeFileSync(
    settings,
    `databases:
  - { name: shop, kind: sqlite, file: shop.db, description: What we sell }
  - { name: till, kind: sqlite, file: $WORKSPACE/shop.db, access: write }
${more}`,
  );
  workspace.giveAway();
  const databases = new Databases({ file: settings, workspace: workspace.path });
  const [list, read, write] = databaseTools({ databases, readSecret: () => assert.fail('no secret is asked for') });
  assert.ok(list && read && write);
  const hash = (): string => createHash('sha256').update(readFileSync(file)).digest('hex');
  return Object.assign(workspace, {
    file,
    hash,
    list: () => workspace.call(list, {}),
    read: (sql: string, args: JsonObject = {}) => workspace.call(read, { database: 'shop', sql, ...args }),
    write: (sql: string, args: JsonObject = {}) => workspace.call(write, { database: 'till', sql, ...args }),
    show: (sql: string) => workspace.preview(write, { database: 'till', sql, parameters: [7, 'x'] }),
  });
}

test('rows come with their columns, types and exact values', async () => {
  using shop = openShop();
  const answer = await shop.read('SELECT id, name, price, picture, note, 1.5 AS half FROM items ORDER BY id');
  assert.deepEqual(answer, {
    columns: [
      { name: 'id', type: 'INTEGER' },
      { name: 'name', type: 'TEXT' },
      { name: 'price', type: 'REAL' },
      { name: 'picture', type: 'BLOB' },
      { name: 'note' },
      { name: 'half' },
    ],
    rows: [
      [1, 'chair', 12.5, { base64: 'AP8=' }, null, 1.5],
      ['9007199254740993', 'table', 99, null, 'é', 1.5],
    ],
    truncated: false,
  });
  const typed = await shop.read('SELECT typeof(?), typeof(?), typeof(?), typeof(?), ?', {
    parameters: [1, 1.5, 'x', null, "'); DROP TABLE items; --"],
  });
  assert.deepEqual(typed['rows'], [['integer', 'real', 'text', 'null', "'); DROP TABLE items; --"]]);
  assert.deepEqual((await shop.read('PRAGMA table_info(items)'))['truncated'], false);
  assert.deepEqual(await shop.list(), {
    databases: [
      { name: 'shop', kind: 'sqlite', access: 'read', description: 'What we sell' },
      { name: 'till', kind: 'sqlite', access: 'write' },
    ],
  });
});

test('a read connection changes nothing, whatever the statement', async () => {
  requirement('CAT-7');
  using shop = openShop();
  const before = shop.hash();
  const other = shop.at('other.db');
  const refused = [
    "INSERT INTO items VALUES (3, 'x', 1, NULL, NULL)",
    'WITH x AS (SELECT 5 AS id) INSERT INTO items (id) SELECT id FROM x',
    'INSERT INTO items (id) VALUES (3) RETURNING id',
    'UPDATE items SET price = 0',
    'DELETE FROM items',
    'REPLACE INTO items (id) VALUES (1)',
    'DROP TABLE items',
    'CREATE TABLE more (a)',
    'CREATE TEMP TABLE more (a)',
    'CREATE TEMP TRIGGER t AFTER INSERT ON items BEGIN SELECT 1; END',
    'CREATE VIRTUAL TABLE v USING fts5(a)',
    'ALTER TABLE items ADD COLUMN more',
    `ATTACH '${other}' AS other`,
    "ATTACH ':memory:' AS other",
    "ATTACH 'file:/database/shop.db?mode=rw' AS other",
    'DETACH main',
    'VACUUM',
    `VACUUM INTO '${other}'`,
    "VACUUM INTO '/database/copy.db'",
    'PRAGMA query_only = OFF',
    'PRAGMA query_only(0)',
    'PRAGMA journal_mode = WAL',
    'PRAGMA journal_mode',
    'PRAGMA writable_schema = ON',
    'PRAGMA user_version = 7',
    'PRAGMA application_id = 7',
    "PRAGMA temp_store_directory = '/database'",
    'PRAGMA wal_checkpoint',
    'PRAGMA optimize',
    "SELECT load_extension('/database/shop.db')",
    "SELECT LOAD_EXTENSION('x', 'y')",
    "SELECT writefile('/database/x', 'x')",
    "SELECT readfile('/etc/passwd')",
    'BEGIN IMMEDIATE',
    'BEGIN',
    'COMMIT',
    'SAVEPOINT a',
    'REINDEX',
    'ANALYZE',
    'SELECT 1; DELETE FROM items',
    'SELECT 1;; DELETE FROM items',
    'SELECT 1 /* ; */; -- c\n DELETE FROM items',
    'EXPLAIN SELECT 1; DELETE FROM items',
    '-- nothing',
  ];
  // Several at a time: each starts a process of its own.
  for (let at = 0; at < refused.length; at += 8) {
    const some = refused.slice(at, at + 8);
    await Promise.all(some.map((sql) => assert.rejects(shop.read(sql), endsWith('EXECUTION_ERROR'), sql)));
  }
  assert.equal(shop.hash(), before);
  assert.deepEqual(
    ['other.db', 'copy.db', 'shop.db-wal', 'shop.db-journal'].map((name) => existsSync(shop.at(name))),
    [false, false, false, false],
  );
});

test('a write is one statement, in its own transaction, and on connections for it only', async () => {
  requirement('CAT-7');
  using shop = openShop();
  const changed = await shop.write('UPDATE items SET price = ? WHERE name = ?', { parameters: [3, 'chair'] });
  assert.deepEqual(changed, { changes: 1, columns: [], rows: [], truncated: false });
  const added = await shop.write("INSERT INTO items (name) VALUES ('a'), ('b') RETURNING name", { max_rows: 1 });
  assert.deepEqual([added['changes'], added['rows'], added['truncated']], [2, [['a']], true]);
  assert.deepEqual((await shop.read('SELECT count(*) FROM items WHERE price = 3 OR price IS NULL'))['rows'], [[3]]);
  const onShop = shop.write('DELETE FROM items', { database: 'shop' });
  await assert.rejects(onShop, endsWith('RULE_DENIES', /may only be read/));
  for (const sql of [
    'DELETE FROM items; DELETE FROM items',
    `ATTACH '${shop.at('other.db')}' AS other`,
    `VACUUM INTO '${shop.at('other.db')}'`,
    'PRAGMA writable_schema = ON',
    "SELECT load_extension('x')",
    'BEGIN',
  ]) {
    await assert.rejects(shop.write(sql), endsWith('EXECUTION_ERROR'), sql);
  }
  assert.equal(existsSync(shop.at('other.db')), false);
  const { summary, detail, basis } = await shop.show('DELETE FROM items WHERE id = ? OR name = ?');
  assert.match(summary, /till: DELETE FROM items/);
  assert.match(detail, /parameter 1: 7\nparameter 2: "x"/);
  assert.ok(basis);
});

test('a database in WAL mode is read while somebody writes it, and when nobody has it open', async () => {
  using shop = openShop();
  const writer = new DatabaseSync(shop.file);
  writer.exec("PRAGMA journal_mode = WAL; UPDATE items SET name = 'stool' WHERE id = 1");
  shop.giveAway();
  const ask = async () => (await shop.read('SELECT name FROM items WHERE id = 1'))['rows'];
  assert.deepEqual(await ask(), [['stool']]);
  writer.exec("BEGIN IMMEDIATE; UPDATE items SET name = 'unfinished' WHERE id = 1");
  assert.deepEqual(await ask(), [['stool']]);
  writer.exec('COMMIT');
  writer.close();
  assert.equal(existsSync(`${shop.file}-wal`), false);
  assert.deepEqual(await ask(), [['unfinished']]);
});

test('rows, bytes and time are bounded', async () => {
  using shop = openShop();
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';
  const few = await shop.read(numbers, { max_rows: 3 });
  assert.deepEqual([few['rows'], few['truncated']], [[[1], [2], [3]], true]);
  const wide = await shop.read('SELECT hex(zeroblob(1000000)) UNION ALL SELECT hex(zeroblob(2000000))', {});
  assert.deepEqual([(wide['rows'] as unknown[]).length, wide['truncated']], [1, true]);
  const endless = shop.read(`SELECT count(*) FROM (${numbers})`, { timeout_ms: 1000 });
  await assert.rejects(endless, endsWith('TIMEOUT'));
});

test('the file is opened as the rules judge it', async () => {
  using shop = openShop(`  - { name: closed, kind: sqlite, file: forbidden.db }
  - { name: link, kind: sqlite, file: link.db }
  - { name: outside, kind: sqlite, file: /etc/passwd }
  - { name: twice, kind: sqlite, file: second.db }
  - { name: none, kind: sqlite, file: none.db }
  - { name: text, kind: sqlite, file: text.db }
`);
  for (const name of ['forbidden.db', 'text.db']) shop.put(name, 'this is no database, but text of some length');
  symlinkSync(join(shop.outside, 'secret.txt'), shop.at('link.db'));
  linkSync(shop.file, shop.at('second.db'));
  const read = (database: string) => shop.read('SELECT 1 FROM sqlite_schema', { database });
  await assert.rejects(read('closed'), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(read('outside'), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(read('link'), endsWith('UNSAFE_PATH'));
  await assert.rejects(read('twice'), endsWith('UNSAFE_PATH'));
  await assert.rejects(read('none'), endsWith('NOT_FOUND'));
  await assert.rejects(read('text'), endsWith('EXECUTION_ERROR', /not a database/));
  await assert.rejects(read('unknown'), endsWith('INVALID_ARGUMENTS', /There are: shop, till/));
});
