import { readFileSync } from 'node:fs';
import { openSigner } from '@sallyport/log';
import { describeHome } from '../packages/gateway/src/daemon/home/home.ts';
import { readStateKey } from '../packages/gateway/src/daemon/home/state-key.ts';
import { openSqliteStore } from '../packages/gateway/src/storage/sqlite/sqlite-store.ts';
import type { Store } from '../packages/gateway/src/storage/stores.ts';
import type { Place } from '../test/harness/daemon.ts';

/** The store of a daemon that has stopped, to be filled faster than by calls. */
export function openStoreOf(place: Place): Promise<Store> {
  const home = describeHome(place.home);
  const signingKey = readFileSync(home.signingKeyFile, 'utf8');
  const { databaseFile, checkpointFile, reserveFile } = home;
  return openSqliteStore({
    ...{ databaseFile, checkpointFile, reserveFile, reserveBytes: 64 * 1024 },
    ...{ signingKey, origin: openSigner(signingKey).name, stateKey: readStateKey(home) ?? '', adoptState: false },
  });
}
