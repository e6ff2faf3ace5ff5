import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Reservation } from '../packages/gateway/src/call/call.ts';
import { Counters } from '../packages/gateway/src/storage/sqlite/counts/counters.ts';
import { Database } from '../packages/gateway/src/storage/sqlite/database.ts';
import { migrate } from '../packages/gateway/src/storage/sqlite/migrations.ts';
import { newPlace } from '../test/harness/daemon.ts';
import type { Budget } from './measure.ts';

const minuteMs = 60_000;
const windows = [minuteMs, 60 * minuteMs, 1440 * minuteMs];
const agents = 10_000;

/**
 * What it costs to look at all windows of a call and to reserve in them, with more agents than are kept in memory, the
 * writing of the counts included. The commit is left out: it is that of the intent, with or without limits.
 */
export function limitsTime(): Budget {
  let database: Database;
  let at = 0;
  return {
    name: 'a rate-limit check',
    bar: 'p99 ≤ 1 ms',
    meets: (_ratio, { subject }) => subject <= 1000,
    setUp: () => {
      const { folder } = newPlace();
      database = Database.openForWriting(join(folder, 'limits.db'));
      migrate(database);
      return Promise.resolve(() => {
        database.close();
        return Promise.resolve(rmSync(folder, { recursive: true }));
      });
    },
    round: (seconds) => {
      const counters = new Counters(database);
      const read = database.prepare('SELECT used FROM counters WHERE key = ? AND window_ms = ?');
      database.execute('BEGIN');
      const subject = timesOf(seconds / 2, () => {
        counters.reserve(reservationsOf(at++ % agents), Date.now());
        counters.flush();
      });
      const floor = timesOf(seconds / 2, () => void read.get(`files.read agent-${at++ % agents}`, minuteMs));
      database.execute('COMMIT');
      return Promise.resolve({
        floor: quantile(floor, 0.99),
        subject: quantile(subject, 0.99),
        unit: 'µs at p99 (floor: one row read by its key)',
        details: { 'p50 µs': quantile(subject, 0.5), 'p99.9 µs': quantile(subject, 0.999) },
      });
    },
  };
}

/** As under the profile team, with a limit for everyone together and one of the mode. */
function reservationsOf(agent: number): readonly Reservation[] {
  const limit = Number.MAX_SAFE_INTEGER;
  const own = windows.map((windowMs) => ({ key: `files.read agent-${agent}`, windowMs, limit, rule: 'own' }));
  const shared = ['total *', 'mode ALERT'].map((key) => ({ key, windowMs: minuteMs, limit, rule: 'shared' }));
  return [...own, ...shared];
}

function timesOf(seconds: number, run: () => void): readonly number[] {
  const endsAt = performance.now() + seconds * 1000;
  const times: number[] = [];
  while (performance.now() < endsAt) {
    const before = process.hrtime.bigint();
    run();
    times.push(Number(process.hrtime.bigint() - before) / 1000);
  }
  return times.sort((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? NaN;
}
