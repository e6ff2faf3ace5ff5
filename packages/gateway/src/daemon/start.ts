import type { GetStatusResponse, InJson } from '@sallyport/contract';
import { giveBackMemory } from '@sallyport/sandbox';
import { ConfigError, Fault } from '../call/fault.ts';
import { fullDisk, isDamaged, isDiskFull } from '../storage/sqlite/database.ts';
import { describeFullDisk, describeOpenFailure } from '../storage/sqlite/describe-open-failure.ts';
import { compose } from './compose.ts';
import type { WatchHealth } from './compose.ts';
import type { Config } from './config.ts';
import { prepareHome } from './home/home.ts';
import type { Home } from './home/home.ts';
import { takeLock } from './home/lock.ts';

export interface Daemon {
  /** Where agents reach it over TCP. */
  readonly address: string;
  readonly readStatus: () => Promise<InJson<GetStatusResponse>>;
  /** What of programs does not work on this machine, each with what to do about it. It waits until that is known. */
  readonly readMachine: () => Promise<readonly string[]>;
  /** Hears that the gate sealed itself, with the reason, and that it serves again. */
  readonly watchHealth: WatchHealth;
  readonly callsInFlight: () => number;
  /**
   * Ends the calls in flight after a moment, answers them, signs the log and releases the home. `by`: who wants it, for
   * the record. Safe to call twice.
   */
  readonly stop: (by: string) => Promise<void>;
  /** Resolves when the daemon has stopped, for any reason. */
  readonly ended: Promise<void>;
}

/** Starts serving. Rejects with ConfigError or AlreadyRunningError; then nothing is left behind. */
export async function startDaemon(config: Config): Promise<Daemon> {
  try {
    return await start(config);
  } catch (error) {
    throw explain(error, config.home);
  }
}

/** What keeps a daemon from writing keeps it from starting, and is for the person at the terminal. */
function explain(error: unknown, { folder, databaseFile }: Pick<Home, 'folder' | 'databaseFile'>): unknown {
  // What could not be closed matters less than why it had to be.
  if (error instanceof SuppressedError) return explain(error.suppressed, { folder, databaseFile });
  // Not every page is read when it is opened.
  if (isDamaged(error)) {
    const { message, remedy } = describeOpenFailure(error, databaseFile);
    return new ConfigError(message, remedy);
  }
  const isSealed = error instanceof Fault && error.code === 'SEALED';
  if (isDiskFull(error) || (isSealed && error.message === fullDisk)) {
    return new ConfigError(...describeFullDisk(folder));
  }
  if (!isSealed) return error;
  const remedy = 'Correct that, then start again. A database that is damaged must be restored from a backup.';
  return new ConfigError(`Sallyport cannot write to ${folder}: ${error.message}.`, remedy);
}

async function start(config: Config): Promise<Daemon> {
  process.umask(0o077);
  prepareHome(config.home);
  const release = takeLock(config.home.lockFile, config.home.folder);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  try {
    const composed = await compose(config, (by) => setImmediate(() => void stop(by)));
    const stopGivingBack = giveBackMemory(composed.callsInFlight);
    const stop = (by: string): Promise<void> => {
      stopGivingBack();
      stopping ??= composed.close(by).finally(release);
      stopping.then(resolve, reject);
      return stopping;
    };
    const { address, readStatus, readMachine, callsInFlight, watchHealth } = composed;
    return { address, readStatus, readMachine, callsInFlight, watchHealth, stop, ended };
  } catch (error) {
    release();
    throw error;
  }
}
