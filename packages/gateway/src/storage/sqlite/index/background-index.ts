import { Worker } from 'node:worker_threads';
import type { ActivityIndex, ActivityKind, ActivityRequest } from '../../../audit/search/activity.ts';
import type { SearchIndex, SearchRequest } from '../../../audit/search/search-page.ts';
import { threadFile } from '../thread-file.ts';
import type { AnswerTo, FromIndex, Question, ToIndex } from '../index-thread.ts';
import type { IndexFiles } from './index-keeper.ts';

interface Waiting {
  readonly resolve: (answer: AnswerTo[keyof AnswerTo]) => void;
  readonly reject: (error: Error) => void;
}

const startAfterMs = 10_000;
const heapMegabytes = 160;

/**
 * Keeps the index in a thread of its own. It begins a while after the start, or with the first search, and a thread that
 * fails is started again by the next search: no call waits for any of this.
 */
export class BackgroundIndex implements SearchIndex, ActivityIndex {
  readonly #options: IndexFiles;
  readonly #onError: (error: Error) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #starting: NodeJS.Timeout;
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: IndexFiles, onError: (error: Error) => void) {
    this.#options = options;
    this.#onError = onError;
    this.#starting = setTimeout(() => this.#open(), startAfterMs).unref();
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
    await this.#worker?.terminate();
    this.#fail(new Error('the gate is stopping'));
  };

  #ask<Asked extends Question>(question: Asked): Promise<AnswerTo[Asked['kind']]> {
    if (this.#isClosed) return Promise.reject(new Error('the gate is stopping'));
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      // The thread answers each question with what its kind promises.
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      const message: ToIndex = { id, question };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
      this.#open().postMessage(message);
    });
  }

  #open(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(threadFile('index-thread'), {
      workerData: this.#options,
      name: 'sallyport-index',
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    });
    this.#worker = worker;
    // A stop does not wait for it.
    worker.unref();
    worker.on('message', ({ id, answer, problem = '' }: FromIndex) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (answer === undefined) waiting?.reject(new Error(problem));
      else waiting?.resolve(answer);
    });
    worker.once('error', (error: Error) => {
      this.#onError(error);
      this.#fail(error);
    });
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  #fail(error: Error): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
