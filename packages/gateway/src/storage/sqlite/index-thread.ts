import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { SearchPage, SearchRequest } from '../../audit/search/search-page.ts';
import { IndexKeeper } from './index/index-keeper.ts';

export interface IndexOptions {
  readonly databaseFile: string;
  readonly indexFile: string;
}

export interface ToIndex {
  readonly id: number;
  readonly request: SearchRequest;
}

export interface FromIndex {
  readonly id: number;
  readonly page?: SearchPage;
  /** Why there is no page. */
  readonly problem?: string;
}

const lookEveryMs = 1000;
const lowestPriority = 19;

if (parentPort === null) throw new Error('the index is kept by a worker thread');
const port = parentPort;
// On Linux this concerns this thread alone; elsewhere it would slow the gate down.
if (process.platform === 'linux') setPriority(0, lowestPriority);
const { databaseFile, indexFile } = workerData as IndexOptions;
const keeper = new IndexKeeper(databaseFile, indexFile);

port.on('message', ({ id, request }: ToIndex) => {
  const post = (answer: FromIndex): void => port.postMessage(answer);
  try {
    // What was answered to a caller before this question is found, unless there is a lot to take in.
    keeper.catchUp();
    post({ id, page: keeper.search(request) });
  } catch (error) {
    post({ id, problem: error instanceof Error ? error.message : String(error) });
  }
});

/** One portion at a time, so that a search in between does not wait for all of a long log. */
function keepUp(): void {
  const isMore = keeper.catchUp();
  if (isMore) setImmediate(keepUp);
  else setTimeout(keepUp, lookEveryMs);
}
keepUp();
