import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { Counters } from './counters.ts';
import { Database } from './database.ts';
import { migrate } from './migrations.ts';

const minuteMs = 60_000;

test('counts are exact with more of them than are kept in memory', (t) => {
  requirement('RATE-2');
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-counters-'));
  const database = Database.openForWriting(join(folder, 'counters.db'));
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  migrate(database);
  const counters = new Counters(database);
  const agents = 4000;
  const reserve = (agent: number) =>
    counters.reserve(
      ['own', 'definition', 'total'].map((kind) => ({
        key: `${kind} ${agent}`,
        windowMs: minuteMs,
        limit: 2,
        rule: kind,
      })),
      1000,
    ).ok;
  database.execute('BEGIN');
  const passed = [1, 2, 3].map(() => {
    let count = 0;
    for (let agent = 0; agent < agents; agent++) {
      count += Number(reserve(agent));
      // As after a commit of several calls.
      if (agent % 7 === 0) counters.flush();
    }
    return count;
  });
  counters.flush();
  database.execute('COMMIT');
  assert.deepEqual(passed, [agents, agents, 0]);
  assert.equal(database.readNumber('SELECT count(*) FROM counters WHERE used = 2'), 3 * agents);
});
