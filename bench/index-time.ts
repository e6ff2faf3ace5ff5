import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFilter } from '../packages/gateway/src/audit/search/parse-filter.ts';
import { Database } from '../packages/gateway/src/storage/sqlite/database.ts';
import { IndexKeeper } from '../packages/gateway/src/storage/sqlite/index/index-keeper.ts';
import { longLogRecords, openLongLog } from './long-log.ts';
import { percentile } from './measure.ts';
import type { Budget } from './measure.ts';

const millions = longLogRecords / 1_000_000;
const limit = 50;
/** Of each kind the long log has: frequent and rare, one and several, words and their beginnings, and what is not there. */
const filters = [
  '',
  'agent:agent-3',
  'tool:files.read status:ok',
  'status:denied',
  'code:rule_denies',
  'path:file-500-7.txt',
  'trace:00000000000000000000000000000000',
  'since:1h',
  'agent:agent-3 status:denied since:10h until:5h',
  'file bytes',
  'fil*',
  'nobody',
  'agent:agent-3 agent:agent-4',
] as const;

/** Building the index of a log anew, against reading the same records and nothing else. */
export function indexTime(): Budget {
  return budget('search index, for each million records', '≤ 60 s of one core', 60, (databaseFile, indexFile) => {
    const floor = readAll(databaseFile);
    const subject = cpuSeconds(() => build(databaseFile, indexFile));
    return {
      ...{ floor: floor / millions, subject: subject / millions, unit: 's of CPU (floor: SQLite reads the records)' },
      details: {
        'index bytes a record': statSync(indexFile).size / longLogRecords,
        'log bytes a record': statSync(databaseFile).size / longLogRecords,
        'records/s': longLogRecords / subject,
      },
    };
  });
}

/** The slowest kind of question, for a page anywhere in the log, against reading the records of a page. */
export function searchTime(): Budget {
  let keeper: IndexKeeper | undefined;
  return budget(
    `search of ${longLogRecords} records, slowest kind, p99`,
    '≤ 20 ms of one core',
    20,
    (databaseFile, indexFile) => {
      if (keeper === undefined) build(databaseFile, indexFile);
      keeper ??= new IndexKeeper({ databaseFile, indexFile });
      const opened = keeper;
      const p99 = filters.map((text) => percentile(timesOf(opened, text), 99));
      return { floor: pageMs(databaseFile), subject: Math.max(...p99), unit: 'ms of CPU', details: {} };
    },
    () => keeper?.close(),
  );
}

function timesOf(keeper: IndexKeeper, text: string): number[] {
  const filter = parseFilter(text, Date.now());
  return Array.from({ length: 100 }, () => {
    const before = Math.ceil(Math.random() * longLogRecords);
    return 1000 * cpuSeconds(() => void keeper.search({ filter, limit, before }));
  });
}

function pageMs(databaseFile: string): number {
  const database = Database.openForReading(databaseFile);
  const read = database.prepare('SELECT * FROM records WHERE position BETWEEN ? AND ?');
  const seconds = cpuSeconds(() => {
    for (let nth = 0; nth < 100; nth += 1) {
      const from = Math.floor(Math.random() * longLogRecords);
      read.all(from, from + 2 * limit);
    }
  });
  database.close();
  return (1000 * seconds) / 100;
}

function build(databaseFile: string, indexFile: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${indexFile}${end}`, { force: true });
  const keeper = new IndexKeeper({ databaseFile, indexFile });
  while (keeper.catchUp());
  keeper.close();
}

function readAll(databaseFile: string): number {
  const database = Database.openForReading(databaseFile);
  const seconds = cpuSeconds(() => {
    database.readNumber('SELECT sum(length(payload)) + sum(length(leaf)) FROM records');
  });
  database.close();
  return seconds;
}

function cpuSeconds(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e6;
}

function budget(
  name: string,
  bar: string,
  most: number,
  round: (databaseFile: string, indexFile: string) => Awaited<ReturnType<Budget['round']>>,
  close: () => void = () => undefined,
): Budget {
  let databaseFile = '';
  let folder = '';
  return {
    ...{ name, bar, meets: (_ratio, { subject }) => subject <= most, roundSeconds: 10 },
    setUp: async () => {
      const place = await openLongLog();
      databaseFile = join(place.home, 'sallyport.db');
      folder = mkdtempSync(join(tmpdir(), 'sallyport-index-'));
      return async () => {
        close();
        rmSync(folder, { recursive: true, force: true });
      };
    },
    round: async () => round(databaseFile, join(folder, 'index.db')),
  };
}
