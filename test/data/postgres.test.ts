import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { Databases } from '../../packages/gateway/src/catalogue/data/databases.ts';
import { databaseTools } from '../../packages/gateway/src/catalogue/data/index.ts';
import type { ToolContext } from '../../packages/gateway/src/call/tool.ts';
import { endsWith, TestWorkspace } from '../../packages/gateway/src/catalogue/files/test-workspace.ts';
import { requirement } from '../requirement.ts';
import { PostgresServer } from './postgres-server.ts';

let server: PostgresServer;
let workspace: TestWorkspace;
let read: (sql: string, args?: JsonObject, context?: Partial<ToolContext>) => Promise<JsonObject>;
let write: (sql: string, args?: JsonObject, context?: Partial<ToolContext>) => Promise<JsonObject>;
let claim: (args: JsonObject) => unknown;

before(async () => {
  server = await PostgresServer.start();
  await server.administer(`
    CREATE ROLE keeper LOGIN PASSWORD 'keeper-password';
    CREATE ROLE runner LOGIN PASSWORD 'keeper-password' IN ROLE pg_execute_server_program;
    CREATE ROLE hidden_runner IN ROLE pg_execute_server_program NOINHERIT;
    CREATE ROLE switcher LOGIN NOINHERIT PASSWORD 'keeper-password' IN ROLE hidden_runner;
  `);
  await server.administer('CREATE DATABASE shop OWNER keeper');
  await server.administer('CREATE DATABASE linked OWNER keeper');
  await server.administer('CREATE EXTENSION dblink', 'linked');
  // The account owns all of it: only the session keeps it from writing.
  await server.administer(
    `SET ROLE keeper;
    CREATE SCHEMA s;
    CREATE TABLE s.items (id int PRIMARY KEY, name text);
    INSERT INTO s.items VALUES (1, 'chair'), (2, 'table');
    CREATE SEQUENCE s.numbers;
    CREATE FUNCTION s.add() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO s.items VALUES (3, ''x''); RETURN 1; END';
    CREATE FUNCTION s.open_and_add() RETURNS int LANGUAGE plpgsql AS
      'BEGIN SET TRANSACTION READ WRITE; INSERT INTO s.items VALUES (4, ''x''); RETURN 1; END';
    CREATE FUNCTION s.commit_and_add() RETURNS int LANGUAGE plpgsql AS
      'BEGIN COMMIT; INSERT INTO s.items VALUES (5, ''x''); RETURN 1; END';
    CREATE PROCEDURE s.change() LANGUAGE plpgsql AS
      'BEGIN COMMIT; SET TRANSACTION READ WRITE; INSERT INTO s.items VALUES (6, ''x''); COMMIT; END';
    CREATE FUNCTION s.loosen() RETURNS text LANGUAGE sql SET transaction_read_only = off AS 'SELECT s.add()::text';`,
    'shop',
  );
  workspace = new TestWorkspace();
  const settings = join(workspace.outside, 'databases.yaml');
  const entry = (name: string, more: string): string =>
    `  - { name: ${name}, kind: postgres, host: 127.0.0.1, port: ${server.port}, password: PASSWORD, ${more} }\n`;
  writeFileSync(
    settings,
    `databases:\n${[
      entry('shop', 'database: shop, user: keeper'),
      entry('till', 'database: shop, user: keeper, access: write'),
      entry('super', 'database: shop, user: postgres, access: write'),
      entry('runner', 'database: shop, user: runner, access: write'),
      entry('switcher', 'database: shop, user: switcher, access: write'),
      entry('linked', 'database: linked, user: keeper, access: write'),
      entry('encrypted', 'database: shop, user: keeper, tls: true'),
      entry('wrong', 'database: shop, user: nobody'),
    ].join('')}  - { name: absent, kind: postgres, host: 127.0.0.1, port: 1, database: a, user: b }\n`,
  );
  const databases = new Databases({ file: settings, workspace: workspace.path });
  const readSecret = (name: string): string => {
    assert.equal(name, 'PASSWORD');
    return password;
  };
  const [, reading, writing] = databaseTools({ databases, readSecret });
  assert.ok(reading && writing);
  read = (sql, args = {}, context = {}) => workspace.call(reading, { database: 'shop', sql, ...args }, context);
  write = (sql, args = {}, context = {}) => workspace.call(writing, { database: 'till', sql, ...args }, context);
  claim = (args) => reading.claim(args, workspace.session);
});

after(async () => {
  workspace[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

let password = 'keeper-password';

/** Everything that a reader must leave as it is. */
async function describeShop(): Promise<string> {
  const rows = await server.administer(
    `SELECT (SELECT json_agg(i ORDER BY id) FROM s.items i), (SELECT last_value FROM s.numbers),
      (SELECT is_called FROM s.numbers), (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_proc),
      (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_roles),
      (SELECT count(*) FROM pg_prepared_xacts), (SELECT rolconfig FROM pg_roles WHERE rolname = 'keeper'),
      current_setting('work_mem')`,
    'shop',
  );
  return JSON.stringify([rows, readdirSync(server.folder), existsSync('/tmp/sallyport-was-here')]);
}

test('rows come with their columns, types and exact values', async () => {
  const answer = await read(
    `SELECT $1::int AS a, 9007199254740993::int8 AS b, 1.50::numeric AS c, true AS d, NULL AS e, '\\x00ff'::bytea AS f,
      '{"a": 1}'::jsonb AS g, 'NaN'::float8 AS h, ARRAY[1, 2] AS i, date '2026-01-02' AS j, $2 AS k`,
    { parameters: [7, "'; DROP TABLE s.items; --"] },
  );
  const cells = [7, '9007199254740993', '1.50', true, null, { base64: 'AP8=' }];
  assert.deepEqual(answer['rows'], [[...cells, '{"a": 1}', 'NaN', '{1,2}', '2026-01-02', "'; DROP TABLE s.items; --"]]);
  const types = (answer['columns'] as JsonObject[]).map(({ type }) => type);
  assert.deepEqual(types.slice(0, 8), ['int4', 'int8', 'numeric', 'bool', 'text', 'bytea', 'jsonb', 'float8']);
  assert.deepEqual((await read('TABLE s.items;'))['rows'], [
    [1, 'chair'],
    [2, 'table'],
  ]);
  assert.deepEqual(claim({ database: 'shop', sql: 'SELECT 1' }), { paths: [], hosts: [`127.0.0.1:${server.port}`] });
});

test('a read connection changes nothing, whatever the statement', async () => {
  requirement('CAT-7');
  const atFirst = await describeShop();
  const refused = [
    "INSERT INTO s.items VALUES (9, 'x')",
    "INSERT INTO s.items VALUES (9, 'x') RETURNING id",
    "WITH x AS (INSERT INTO s.items VALUES (9, 'x') RETURNING id) SELECT * FROM x",
    'WITH x AS (DELETE FROM s.items RETURNING id) SELECT * FROM x',
    'UPDATE s.items SET id = 9',
    'DELETE FROM s.items',
    'TRUNCATE s.items',
    'DROP TABLE s.items',
    'CREATE TABLE s.more (a int)',
    'CREATE TEMP TABLE more (a int)',
    'SELECT * INTO s.more FROM s.items',
    'SELECT * INTO TEMP more FROM s.items',
    'CREATE TABLE s.more AS SELECT 1',
    'SELECT * FROM s.items FOR UPDATE',
    'LOCK TABLE s.items',
    'SELECT 1; INSERT INTO s.items VALUES (9)',
    'SELECT 1; COMMIT; INSERT INTO s.items VALUES (9)',
    'COMMIT',
    'COMMIT AND CHAIN',
    'ROLLBACK',
    'END',
    'BEGIN READ WRITE',
    "PREPARE TRANSACTION 'x'",
    'SAVEPOINT a',
    'SET TRANSACTION READ WRITE',
    'SET LOCAL transaction_read_only = off',
    'SET default_transaction_read_only = off',
    'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
    'RESET ALL',
    'DISCARD ALL',
    'SET ROLE postgres',
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT set_config('transaction_read_only', 'off', true), s.add()",
    "SELECT set_config('default_transaction_read_only', 'off', false), s.add()",
    "SELECT set_config('role', 'postgres', false)",
    'SELECT s.add()',
    'SELECT s.open_and_add()',
    'SELECT s.commit_and_add()',
    'SELECT s.loosen()',
    'CALL s.change()',
    "DO 'BEGIN COMMIT; INSERT INTO s.items VALUES (9); END'",
    "COPY s.items TO PROGRAM 'touch /tmp/sallyport-was-here'",
    "COPY s.items FROM PROGRAM 'touch /tmp/sallyport-was-here'",
    "COPY s.items TO '/tmp/sallyport-was-here'",
    'COPY s.items TO STDOUT',
    'COPY s.items FROM STDIN',
    "SELECT nextval('s.numbers')",
    "SELECT setval('s.numbers', 70)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/sallyport-was-here')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    'SELECT pg_reload_conf()',
    "SELECT dblink_exec('host=127.0.0.1', 'DROP TABLE s.items')",
    "SELECT query_to_xml('INSERT INTO s.items VALUES (9, NULL)', true, false, '')",
    'EXPLAIN ANALYZE INSERT INTO s.items VALUES (9)',
    'PREPARE p AS INSERT INTO s.items VALUES (9)',
    'EXECUTE p',
    'DECLARE other CURSOR FOR SELECT 1',
    'CLOSE sallyport_rows',
    'LISTEN a',
    'NOTIFY a',
    'VACUUM',
    'ANALYZE s.items',
    'REFRESH MATERIALIZED VIEW s.items',
    'ALTER ROLE keeper SET default_transaction_read_only = off',
    "ALTER SYSTEM SET work_mem = '1MB'",
    "CREATE FUNCTION s.evil() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "LOAD 'dblink'",
    'SELECT 1 FROM',
    ') SELECT 1',
  ];
  const because =
    /read-only transaction|syntax error|multiple commands|permission denied|data-modifying|INTO|must be set before any query|invalid transaction termination|does not exist|non-volatile function/;
  // Several at a time: each opens a connection of its own.
  for (let at = 0; at < refused.length; at += 8) {
    const some = refused.slice(at, at + 8);
    await Promise.all(some.map((sql) => assert.rejects(read(sql), endsWith('EXECUTION_ERROR', because), sql)));
  }
  // What the server lets a reader do is undone with the transaction, and ends with the session.
  for (const sql of [
    'SELECT lo_create(4711)',
    "SELECT lo_from_bytea(4711, 'x')",
    "SELECT pg_notify('a', 'b')",
    'SELECT pg_advisory_lock(1)',
    "SELECT set_config('statement_timeout', '0', false)",
    "SELECT set_config('work_mem', '1MB', false)",
  ]) {
    await read(sql).catch(endsWith('EXECUTION_ERROR'));
  }
  assert.equal(await describeShop(), atFirst);
  assert.deepEqual(await server.administer("SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'"), [[0]]);
});

test('an account whose reach does not end with its transaction is not used, neither to read nor to write', async () => {
  requirement('CAT-7');
  for (const [database, reason] of [
    ['super', /is a superuser/],
    ['runner', /belongs to pg_execute_server_program/],
    ['switcher', /belongs to .*pg_execute_server_program/],
    ['linked', /may call functions of dblink/],
  ] as const) {
    if (database === 'super') password = server.superuserPassword;
    for (const run of [read, write]) {
      await assert.rejects(run('SELECT 1', { database }), (error: Error & { forOperators?: string }) => {
        assert.match(error.message, /has more rights than the gate can control/);
        assert.match(error.forOperators ?? '', reason);
        return true;
      });
    }
    password = 'keeper-password';
  }
  await server.administer('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC', 'linked');
  assert.deepEqual((await read('SELECT 1', { database: 'linked' }))['rows'], [[1]]);
});

test('a write is one statement, in its own transaction, and on connections for it only', async () => {
  requirement('CAT-7');
  const added = await write('INSERT INTO s.items VALUES ($1, $2) RETURNING id', { parameters: [70, 'lamp'] });
  assert.deepEqual([added['changes'], added['rows']], [1, [[70]]]);
  assert.equal((await write('DELETE FROM s.items WHERE id = $1', { parameters: [70] }))['changes'], 1);
  const atFirst = await describeShop();
  await assert.rejects(write('DELETE FROM s.items', { database: 'shop' }), endsWith('RULE_DENIES'));
  const two = 'INSERT INTO s.items VALUES (71); INSERT INTO s.items VALUES (72)';
  await assert.rejects(write(two), endsWith('EXECUTION_ERROR', /multiple commands/));
  await assert.rejects(write("COPY s.items TO PROGRAM 'touch /tmp/sallyport-was-here'"), endsWith('EXECUTION_ERROR'));
  await assert.rejects(write('INSERT INTO s.items VALUES (1)'), endsWith('EXECUTION_ERROR', /duplicate key/));
  assert.equal(await describeShop(), atFirst);
});

test('rows, bytes and time are bounded, and what nobody waits for ends on the server', async () => {
  const few = await read('SELECT generate_series(1, 1000000000)', { max_rows: 2 });
  assert.deepEqual([few['rows'], few['truncated']], [[[1], [2]], true]);
  const wide = await read("SELECT repeat('x', 3000000) FROM generate_series(1, 3)", {});
  assert.deepEqual([(wide['rows'] as unknown[]).length, wide['truncated']], [1, true]);
  await assert.rejects(read("SELECT repeat('x', 60000000)"), endsWith('EXECUTION_ERROR', /more than 32 MB/));
  await assert.rejects(read('SELECT pg_sleep(60)', { timeout_ms: 500 }), endsWith('TIMEOUT'));
  const controller = new AbortController();
  const cancelled = write('SELECT pg_sleep(60)', {}, { signal: controller.signal });
  const running = "SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'";
  while (JSON.stringify(await server.administer(running)) !== '[[1]]');
  controller.abort();
  await assert.rejects(cancelled);
  while (JSON.stringify(await server.administer(running)) !== '[[0]]');
});

test('a server that cannot be reached, does not know the account or does not encrypt is told, without the password', async () => {
  const events: unknown[] = [];
  const noteNetwork: ToolContext['noteNetwork'] = (more) => void events.push(...more);
  for (const [database, said] of [
    ['absent', /ECONNREFUSED/],
    ['wrong', /authentication failed/],
    ['encrypted', /does not support SSL/],
  ] as const) {
    await assert.rejects(read('SELECT 1', { database }, { noteNetwork }), (error: Error) => {
      endsWith('EXECUTION_ERROR', said)(error);
      assert.ok(!error.message.includes('keeper-password'));
      return true;
    });
  }
  assert.deepEqual(events[0], { outcome: 'unreachable', target: '127.0.0.1:1', times: 1 });
});
