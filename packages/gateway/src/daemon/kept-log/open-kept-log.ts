import { openLog } from '../../storage/sqlite/log/log-reader.ts';
import type { KeptLog } from '../../storage/stores.ts';
import type { Home } from '../home/home.ts';

/** The log of a home, for commands that judge it or write it out themselves: with or without a daemon. */
export function openKeptLog(home: Home): KeptLog {
  return openLog(home.databaseFile, home.archiveFolder);
}
