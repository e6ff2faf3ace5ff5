import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { SearchPage, SearchRequest } from '../../audit/search/search-page.ts';
import { IndexKeeper } from './index/index-keeper.ts';
import type { IndexFiles } from './index/index-keeper.ts';

/** A search, or the wish that what was erased be forgotten now. */
export interface ToIndex {
  readonly id: number;
  readonly request: SearchRequest | 'forget';
}

export interface FromIndex {
  readonly id: number;
  readonly page?: SearchPage;
  readonly isForgotten?: true;
  /** Why there is neither. */
  readonly problem?: string;
}

const lookEveryMs = 1000;
const lowestPriority = 19;

if (parentPort === null) throw new Error('the index is kept by a worker thread');
const port = parentPort;
// On Linux this concerns this thread alone; elsewhere it would slow the gate down.
if (process.platform === 'linux') setPriority(0, lowestPriority);
const keeper = new IndexKeeper(workerData as IndexFiles);

port.on('message', ({ id, request }: ToIndex) => {
  const post = (answer: FromIndex): void => port.postMessage(answer);
  if (request === 'forget') {
    forget(
      () => post({ id, isForgotten: true }),
      (problem) => post({ id, problem }),
    );
    return;
  }
  try {
    // What was answered to a caller before this question is found, unless there is a lot to take in.
    keeper.catchUp();
    post({ id, page: keeper.search(request) });
  } catch (error) {
    post({ id, problem: messageOf(error) });
  }
});

/** A step at a time, so that a search in between does not wait for all of it. */
function forget(onDone: () => void, onProblem: (problem: string) => void): void {
  try {
    if (keeper.forgetErased({ isUrgent: true })) setImmediate(() => forget(onDone, onProblem));
    else onDone();
  } catch (error) {
    onProblem(messageOf(error));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One portion at a time, so that a search in between does not wait for all of a long log. */
function keepUp(): void {
  const isMore = keeper.catchUp() || keeper.forgetErased({ isUrgent: false });
  if (isMore) setImmediate(keepUp);
  else setTimeout(keepUp, lookEveryMs);
}
keepUp();
