import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { deriveTagKey, openSigner, verifyLog } from '@sallyport/log';
import { Database, isDamaged } from './database.ts';
import { findChangedTables, readKeptState } from './kept-state.ts';
import { ForeignTables, openLog } from './log-reader.ts';
import { deriveStateKeys } from './state-sums.ts';
import { stateGroups } from './state-tables.ts';
import type { WriterOptions } from './writer.ts';

export interface VerifyOptions extends WriterOptions {
  readonly isThorough: boolean;
}

/** What was found to be changed or damaged, in words; empty: all is whole. */
export interface Verified {
  readonly problems: readonly string[];
}

const mostProblems = 5;
const lowestPriority = 19;

if (parentPort === null) throw new Error('verification runs as a worker thread');
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a port takes none
parentPort.postMessage(verify(workerData as VerifyOptions));

/** Reads everything once, from the files alone, beside the daemon that goes on writing. */
function verify(options: VerifyOptions): Verified {
  // On Linux this concerns this thread alone; elsewhere it would slow the gate down.
  if (process.platform === 'linux') setPriority(0, lowestPriority);
  try {
    return {
      problems: [...judgeLog(options), ...judgeState(options), ...judgeIndexes(options)].slice(0, mostProblems),
    };
  } catch (error) {
    // Anything else, such as too many open files, says nothing about the log: it is read again later.
    if (!isDamaged(error) && !(error instanceof ForeignTables)) throw error;
    return { problems: [`The database cannot be read: ${(error as Error).message}.`] };
  }
}

function judgeLog({ databaseFile, signingKey, origin, checkpointFile }: WriterOptions): string[] {
  const signer = openSigner(signingKey);
  // Read before the log is: a checkpoint newer than the log would look like records that are gone.
  const remembered = readIfPresent(checkpointFile);
  const log = openLog(databaseFile);
  try {
    const keys = { verifier: signer, origin, tagKey: deriveTagKey(signer) };
    return verifyLog(log, keys, { remembered }).findings.map(({ message }) => message);
  } finally {
    log.close();
  }
}

function judgeState({ databaseFile, stateKey }: WriterOptions): string[] {
  const database = Database.openForReading(databaseFile);
  try {
    database.execute('BEGIN');
    const keys = deriveStateKeys(stateKey);
    const { kept } = readKeptState(database, keys);
    if (kept === undefined) return ['What authenticates the state of the gate was changed.'];
    const size = database.readNumber('SELECT coalesce(max(position) + 1, 0) FROM records');
    if (size !== kept.position) return [`The state belongs to a log of ${kept.position} records; the log has ${size}.`];
    const changed = findChangedTables(database, keys, kept.sums, 'all');
    return changed.map((table) => `Rows were added, changed, removed or put back in: ${table}.`);
  } finally {
    database.close();
  }
}

/** Whether the tables of the state and their indexes say the same: a lookup believes the index. */
function judgeIndexes({ databaseFile, isThorough }: VerifyOptions): string[] {
  const database = Database.openForReading(databaseFile);
  const check = (argument: string): string[] =>
    database
      .prepare(`PRAGMA integrity_check(${argument})`)
      .all()
      .flatMap(({ integrity_check: problem }) => (problem === 'ok' ? [] : [`The database: ${String(problem)}.`]));
  try {
    if (isThorough) return check(String(mostProblems));
    return [...new Set(stateGroups.map(({ table }) => table))].flatMap((table) => check(`'${table}'`));
  } finally {
    database.close();
  }
}

function readIfPresent(file: string): string[] {
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return [];
  }
}
