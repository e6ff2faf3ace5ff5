import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { Database } from '../packages/gateway/src/storage/sqlite/database.ts';
import { environmentOf } from '../test/harness/daemon.ts';
import type { Place } from '../test/harness/daemon.ts';
import { longLogRecords, openLongLog } from './long-log.ts';
import type { Budget } from './measure.ts';

const program = join(import.meta.dirname, '../packages/cli/bin/sallyport.mjs');
const millions = longLogRecords / 1_000_000;

/** The command as a person runs it, from its start to its end, against reading the same pages and nothing else. */
export function verifyTime(): Budget {
  let place: Place;
  return {
    name: 'audit verify, for each million records',
    bar: '≤ 6 s of one core',
    meets: (_ratio, { subject }) => subject <= 6,
    roundSeconds: 5,
    setUp: async () => {
      place = await openLongLog();
      return async () => undefined;
    },
    round: async () => {
      const floor = readAll(join(place.home, 'sallyport.db'));
      const startedAtMs = performance.now();
      const { status, stderr } = spawnSync(
        'sh',
        ['-c', '"$@" && times >&2', 'sh', process.execPath, program, 'audit', 'verify'],
        {
          env: environmentOf(place),
          encoding: 'utf8',
        },
      );
      if (status !== 0) throw new Error(`the log is not as it was written: ${stderr}`);
      return {
        floor: floor / millions,
        subject: readChildSeconds(stderr) / millions,
        unit: 's of CPU (floor: SQLite reads the records)',
        details: { 'wall s': (performance.now() - startedAtMs) / 1000 / millions },
      };
    },
  };
}

function readAll(databaseFile: string): number {
  const database = Database.openForReading(databaseFile);
  const before = process.cpuUsage();
  database.readNumber('SELECT sum(length(payload)) + sum(length(leaf)) FROM records');
  const { user, system } = process.cpuUsage(before);
  database.close();
  return (user + system) / 1e6;
}

/** The shell tells its own time in one line and that of its children in the next: `0m1.25s 0m0.10s`. */
function readChildSeconds(output: string): number {
  const times = [...output.matchAll(/(\d+)m([\d.]+)s/g)].slice(-2);
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}
