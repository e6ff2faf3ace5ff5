import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { deriveTagKey, openSigner } from '../../audit/checkpoint.ts';
import { verifyLog } from '../../audit/verify.ts';
import { Database } from './database.ts';
import { findChangedTables, readKeptState } from './kept-state.ts';
import { openLog } from './log-reader.ts';
import { deriveStateKeys } from './state-sums.ts';
import { stateGroups } from './state-tables.ts';
import type { WriterOptions } from './writer.ts';

/** What was found to be changed or damaged, in words; empty: all is whole. */
export interface Verified {
  readonly problems: readonly string[];
}

const mostProblems = 5;
const lowestPriority = 19;

if (parentPort === null) throw new Error('verification runs as a worker thread');
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a port takes none
parentPort.postMessage(verify(workerData as WriterOptions));

/** Reads everything once, from the files alone, beside the daemon that goes on writing. */
function verify(options: WriterOptions): Verified {
  // On Linux this concerns this thread alone; elsewhere it would slow the gate down.
  if (process.platform === 'linux') setPriority(0, lowestPriority);
  try {
    return {
      problems: [...judgeLog(options), ...judgeState(options), ...judgeIndexes(options)].slice(0, mostProblems),
    };
  } catch (error) {
    return { problems: [`The database cannot be read: ${error instanceof Error ? error.message : String(error)}.`] };
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
function judgeIndexes({ databaseFile }: WriterOptions): string[] {
  const database = Database.openForReading(databaseFile);
  try {
    return [...new Set(stateGroups.map(({ table }) => table))].flatMap((table) =>
      database
        .prepare(`PRAGMA integrity_check('${table}')`)
        .all()
        .flatMap(({ integrity_check: problem }) =>
          problem === 'ok' ? [] : [`The table ${table}: ${String(problem)}.`],
        ),
    );
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
