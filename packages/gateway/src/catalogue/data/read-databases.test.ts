import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDatabases } from './read-databases.ts';

function read(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-databases-'));
  const file = join(folder, 'databases.yaml');
  writeFileSync(file, text);
  try {
    return readDatabases(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('connections are read with safe defaults: read only, and encrypted unless on this machine', () => {
  const found = read(`version: 1
databases:
  - { name: shop, kind: sqlite, file: data/shop.db }
  - { name: orders, kind: postgres, host: db.example.com, database: o, user: u, password: ORDERS, access: write }
  - { name: local, kind: postgres, host: 127.0.0.1, port: 5433, database: o, user: u }
`);
  const rest = { description: '', access: 'read' };
  assert.deepEqual(found, [
    { ...rest, name: 'shop', kind: 'sqlite', file: 'data/shop.db' },
    {
      ...{ ...rest, name: 'orders', access: 'write', kind: 'postgres', host: 'db.example.com', port: 5432 },
      ...{ database: 'o', user: 'u', tls: true, passwordSecret: 'ORDERS' },
    },
    { ...rest, name: 'local', kind: 'postgres', host: '127.0.0.1', port: 5433, database: 'o', user: 'u', tls: false },
  ]);
  assert.deepEqual(readDatabases('/nonexistent/databases.yaml'), []);
});

test('every mistake is told with its line', () => {
  for (const [line, problem] of [
    ['{ name: Shop, kind: sqlite, file: a }', /name must begin with a small letter/],
    ['{ name: a, kind: mysql }', /kind must be one of sqlite, postgres/],
    ['{ name: a, kind: sqlite }', /lacks file/],
    ['{ name: a, kind: sqlite, file: a, host: b }', /host is not for databases of the kind sqlite/],
    ['{ name: a, kind: postgres, host: h }', /lacks database, user/],
    ['{ name: a, kind: postgres, host: "h:5432", database: d, user: u }', /without a port/],
    ['{ name: a, kind: postgres, host: "*.h", database: d, user: u }', /one name or address/],
    ['{ name: a, kind: postgres, host: h, database: d, user: u, url: x }', /unknown key/],
    ['{ name: a, kind: sqlite, file: a, access: all }', /access must be one of/],
    ['{ name: x, kind: sqlite, file: a }', /two databases with the name x/],
  ] as const) {
    const text = `databases:\n  - { name: x, kind: sqlite, file: b }\n  - ${line}\n`;
    assert.throws(() => read(text), { message: problem }, line);
    assert.throws(() => read(text), { message: /databases\.yaml:3:/ }, line);
  }
});
