import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { requirement } from '../../../../../../test/requirement.ts';
import { Counters } from './counters.ts';
import { Database } from '../database.ts';
import { migrate } from '../migrations.ts';

const minuteMs = 60_000;

function openCounters(t: TestContext): { counters: Counters; database: Database } {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-counters-'));
  const database = Database.openForWriting(join(folder, 'counters.db'));
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  migrate(database);
  return { counters: new Counters(database), database };
}

test('a clock that was ahead and is set back holds nobody up longer than a window, and reopens none', (t) => {
  const { counters, database } = openCounters(t);
  const nowMs = 1_800_000_000_000;
  const dayMs = 86_400_000;
  for (const windowMs of [minuteMs, dayMs]) {
    const reserve = (atMs: number, from = counters) =>
      from.reserve([{ key: `calls ${windowMs}`, windowMs, limit: 2, rule: 'own' }], atMs);
    assert.ok(reserve(nowMs + 3 * dayMs).ok);
    assert.ok(reserve(nowMs + 3 * dayMs).ok);
    counters.flush();
    const refused = reserve(nowMs);
    assert.ok(!refused.ok && refused.retryAfterMs <= windowMs, 'the wait is within the present window');
    counters.flush();
    const reopened = reserve(nowMs, new Counters(database));
    assert.ok(!reopened.ok && reopened.retryAfterMs <= windowMs, 'also after a restart');
    counters.flush();
    assert.ok(reserve(nowMs + windowMs, new Counters(database)).ok, 'the next window is open, also after a restart');
    assert.ok(reserve(nowMs + windowMs).ok, 'the next window is open');
  }
});

test('counts are exact with more of them than are kept in memory', (t) => {
  requirement('RATE-2');
  const { counters, database } = openCounters(t);
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
