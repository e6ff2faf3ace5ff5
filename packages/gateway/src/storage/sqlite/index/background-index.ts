import type { Worker } from 'node:worker_threads';
import type { ActivityIndex, ActivityKind, ActivityRequest } from '../../../audit/search/activity.ts';
import type { SearchIndex, SearchRequest } from '../../../audit/search/search-page.ts';
import { startThread } from '../start-thread.ts';
import type { AnswerTo, FromIndex, IndexRests, IndexThreadData, Question, ToIndex } from '../index-thread.ts';
import type { IndexFiles } from './index-keeper.ts';

interface Waiting {
  readonly question: Question;
  readonly resolve: (answer: AnswerTo[keyof AnswerTo]) => void;
  readonly reject: (error: Error) => void;
}

export interface BackgroundIndexParts extends IndexFiles {
  readonly logSize: () => Promise<number>;
  readonly onError: (error: Error) => void;
  readonly startAfterMs?: number;
  readonly restAfterMs?: number;
  readonly lookEveryMs?: number;
}

const heapMegabytes = 160;
/** How many records a search can add itself without being slow. */
const mostBehind = 1000;

/**
 * Keeps the index in a thread of its own. It begins a while after the start, or with the first search. It ends when
 * there is nothing to do, and begins again with the next search or when the log has grown. A thread that fails is
 * started again by the next search: no call waits for any of this.
 */
export class BackgroundIndex implements SearchIndex, ActivityIndex {
  readonly #parts: BackgroundIndexParts;
  readonly #waiting = new Map<number, Waiting>();
  readonly #starting: NodeJS.Timeout;
  readonly #looking: NodeJS.Timeout;
  #worker: Worker | undefined;
  /** As the resting thread left it. Undefined: no thread rests. */
  #indexedSize: number | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(parts: BackgroundIndexParts) {
    this.#parts = parts;
    this.#starting = setTimeout(() => this.#open(), parts.startAfterMs ?? 10_000).unref();
    this.#looking = setInterval(() => void this.#look(), parts.lookEveryMs ?? 10_000).unref();
  }

  /** How much of the log was in the index when it went to rest. Undefined: it does not rest. */
  get restingSize(): number | undefined {
    return this.#indexedSize;
  }

  readonly search = (request: SearchRequest) => this.#ask({ kind: 'search', request });
  readonly readActivity = (request: ActivityRequest) => this.#ask({ kind: 'activity', request });
  readonly readTotals = (kinds: readonly ActivityKind[]) => this.#ask({ kind: 'totals', kinds });

  readonly forgetErased = async (): Promise<void> => {
    await this.#ask({ kind: 'forget' });
  };

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    clearTimeout(this.#starting);
    clearInterval(this.#looking);
    await this.#worker?.terminate();
    this.#fail(new Error('the gate is stopping'));
  };

  #ask<Asked extends Question>(question: Asked): Promise<AnswerTo[Asked['kind']]> {
    if (this.#isClosed) return Promise.reject(new Error('the gate is stopping'));
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      // The thread answers each question with what its kind promises.
      this.#waiting.set(id, { question, resolve: resolve as Waiting['resolve'], reject });
      this.#post(id, question);
    });
  }

  #post(id: number, question: Question): void {
    const message: ToIndex = { id, question };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
    this.#open().postMessage(message);
  }

  async #look(): Promise<void> {
    if (this.#indexedSize === undefined) return;
    const size = await this.#parts.logSize().catch(() => 0);
    if (this.#indexedSize !== undefined && size - this.#indexedSize >= mostBehind) this.#open();
  }

  #open(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    this.#indexedSize = undefined;
    const { databaseFile, indexFile, archiveFolder, restAfterMs = 5000 } = this.#parts;
    const workerData: IndexThreadData = {
      databaseFile,
      indexFile,
      restAfterMs,
      ...(archiveFolder && { archiveFolder }),
    };
    const resourceLimits = { maxOldGenerationSizeMb: heapMegabytes };
    const worker = startThread('index', { workerData, resourceLimits });
    this.#worker = worker;
    // A stop does not wait for it.
    worker.unref();
    worker.on('message', (message: FromIndex | IndexRests) => {
      if ('indexedSize' in message) {
        this.#indexedSize = message.indexedSize;
        return;
      }
      const { id, answer, problem = '' } = message;
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (answer === undefined) waiting?.reject(new Error(problem));
      else waiting?.resolve(answer);
    });
    worker.once('error', (error: Error) => {
      this.#parts.onError(error);
      this.#fail(error);
    });
    worker.once('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      if (this.#isClosed) return;
      // These were asked when it was about to rest.
      for (const [id, { question }] of this.#waiting) this.#post(id, question);
    });
    return worker;
  }

  #fail(error: Error): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
