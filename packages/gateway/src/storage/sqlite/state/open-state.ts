import { openSigner } from '@sallyport/log';
import { ownJson } from '../../../call/redacted.ts';
import type { Database } from '../database.ts';
import { findChangedTables, readKeptState, stateChanged, sumUpState } from './kept-state.ts';
import type { KeptState } from './kept-state.ts';
import { LogAppender } from '../log/log-appender.ts';
import { findOpenIntents, OpenIntents } from '../log/open-intents.ts';
import { checkSchema, migrate, readSchemaVersion, schemaVersion } from '../migrations.ts';
import { StateGuard } from './state-guard.ts';
import { deriveStateKeys } from './state-sums.ts';
import type { StateKeys } from './state-sums.ts';
import type { WriterOptions } from '../writer.ts';

export interface OpenedState {
  readonly log: LogAppender;
  readonly guard: StateGuard;
  readonly intents: OpenIntents;
  /** What an earlier run committed and the tables do not have yet. */
  readonly tallies: string;
}

/**
 * Opens log and state for writing, in one transaction: brings the schema up to date, and refuses what something else
 * has changed. Throws ConfigError, and then nothing was written.
 */
export function openState(
  database: Database,
  options: Pick<WriterOptions, 'signingKey' | 'origin' | 'checkpointFile' | 'stateKey' | 'adoptState'>,
): OpenedState {
  const keys = deriveStateKeys(options.stateKey);
  const isOutdated = readSchemaVersion(database) < schemaVersion;
  database.execute('BEGIN IMMEDIATE');
  try {
    const { kept, tallies } = checkKept(database, keys, { isOutdated, adopt: options.adoptState });
    if (isOutdated) migrate(database);
    checkSchema(database);
    const signer = openSigner(options.signingKey);
    const log = new LogAppender(database, signer, options.origin, options.checkpointFile, kept?.openFrom);
    if (kept !== undefined && kept.position !== log.size) {
      throw stateChanged(
        `It belongs to a log of ${kept.position} records, and the log has ${log.size}: one of the two is older.`,
      );
    }
    const isFresh = log.size === 0 && database.readNumber('SELECT count(*) FROM sessions') === 0;
    if (kept === undefined && !isFresh) recordAdoption(log);
    const sums = kept === undefined || isOutdated ? sumUpState(database, keys) : kept.sums;
    const guard = new StateGuard(database, keys, sums);
    const intents = new OpenIntents(findOpenIntents(database, kept?.openFrom ?? 0));
    if (kept === undefined || isOutdated) {
      guard.save({ position: log.size, openFrom: intents.firstPosition(log.size), tallies });
    }
    database.execute('COMMIT');
    log.committed();
    return { log, guard, intents, tallies };
  } catch (error) {
    database.rollBack();
    throw error;
  }
}

/** Without `kept` the state is accepted as it is. */
function checkKept(
  database: Database,
  keys: StateKeys,
  { isOutdated, adopt }: { readonly isOutdated: boolean; readonly adopt: boolean },
): { readonly kept?: KeptState; readonly tallies: string } {
  const { found, kept } = readKeptState(database, keys);
  if (kept === undefined) {
    if (adopt) return { tallies: found?.tallies ?? '' };
    throw stateChanged(
      found === undefined
        ? 'What authenticates it is gone.'
        : 'What authenticates it was changed, or belongs to another keys/state.key.',
    );
  }
  // After a migration the sums are computed again, so nothing can be left to be checked later.
  const changed = findChangedTables(database, keys, kept.sums, isOutdated ? 'all' : 'atStart');
  if (changed.length === 0) return { kept, tallies: kept.tallies };
  throw stateChanged(`Rows were added, changed, removed or put back in: ${changed.join(', ')}.`);
}

function recordAdoption(log: LogAppender): void {
  const payload = ownJson({
    event: 'state_taken_over',
    reason: 'no key authenticated it; it was taken as found',
  });
  log.append({ kind: 'event', result: 'none', timeMs: Date.now(), payload });
}
