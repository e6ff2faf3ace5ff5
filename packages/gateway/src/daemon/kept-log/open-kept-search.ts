import type { SearchPage, SearchRequest } from '../../audit/search/search-page.ts';
import { IndexKeeper } from '../../storage/sqlite/index/index-keeper.ts';
import type { Home } from '../home/home.ts';
import { openKeptLog } from './open-kept-log.ts';
import { openKeptRedactor } from './open-kept-redactor.ts';

/** The log of a gate that does not run, to be searched. */
export interface KeptSearch {
  readonly logSize: number;
  readonly search: (request: SearchRequest) => SearchPage;
  /** Takes the secrets that the gate holds by now out of the payload of a record. */
  readonly hideHeldInJson: (json: string) => string;
  readonly close: () => void;
}

/** Brings the index up to date first. `onProgress` is told how many records are in it. */
export function openKeptSearch(home: Home, onProgress: (indexed: number) => void): KeptSearch {
  const log = openKeptLog(home);
  const { size: logSize } = log;
  const { hideHeldInJson } = openKeptRedactor(home, log);
  log.close();
  const keeper = new IndexKeeper(home);
  while (keeper.forgetErased({ isUrgent: true }));
  while (keeper.catchUp()) onProgress(keeper.indexedSize);
  return { logSize, search: (request) => keeper.search(request), hideHeldInJson, close: () => keeper.close() };
}
