import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { deriveTagKey, openSigner, verifyLog } from '@sallyport/log';
import { Database, isDamaged } from './database.ts';
import { checkIntegrity } from './state/judge-state.ts';
import { ForeignTables, openLog } from './log/log-reader.ts';
import type { WriterOptions } from './writer.ts';

export interface VerifyOptions extends WriterOptions {
  readonly isThorough: boolean;
}

/** What was changed or damaged, in words; empty: everything is intact. */
export interface Verified {
  readonly problems: readonly string[];
}

const mostProblems = 5;
const lowestPriority = 19;

if (parentPort === null) throw new Error('verification runs as a worker thread');
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a port takes none
parentPort.postMessage(verify(workerData as VerifyOptions));

/** Reads everything once, from the files alone, while the daemon goes on writing. */
function verify(options: VerifyOptions): Verified {
  // On Linux this concerns this thread alone; elsewhere it would slow the gate down.
  if (process.platform === 'linux') setPriority(0, lowestPriority);
  try {
    const pages = options.isThorough ? judgePages(options) : [];
    return { problems: [...new Set([...judge(options), ...pages])].slice(0, mostProblems) };
  } catch (error) {
    // Anything else, such as too many open files, says nothing about the log: it is read again later.
    if (!isDamaged(error) && !(error instanceof ForeignTables)) throw error;
    return { problems: [`The database cannot be read: ${(error as Error).message}.`] };
  }
}

/** Archives are left to `audit verify`: a damaged one does not seal the gate. */
function judge({ databaseFile, signingKey, origin, checkpointFile, stateKey }: WriterOptions): string[] {
  const signer = openSigner(signingKey);
  // Read before the log: a checkpoint newer than the log would look as if records were missing.
  const remembered = readIfPresent(checkpointFile);
  const log = openLog(databaseFile);
  try {
    const keys = { verifier: signer, origin, tagKey: deriveTagKey(signer) };
    const findings = verifyLog(log, keys, { remembered }).findings.map(({ message }) => message);
    return [...findings, ...log.judgeState(stateKey)];
  } finally {
    log.close();
  }
}

function judgePages({ databaseFile }: WriterOptions): readonly string[] {
  const database = Database.openForReading(databaseFile);
  try {
    return checkIntegrity(database, String(mostProblems));
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
