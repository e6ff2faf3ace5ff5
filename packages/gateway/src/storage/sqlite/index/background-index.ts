import { Worker } from 'node:worker_threads';
import type { SearchIndex, SearchPage, SearchRequest } from '../../../audit/search/search-page.ts';
import { threadFile } from '../thread-file.ts';
import type { FromIndex, ToIndex } from '../index-thread.ts';
import type { IndexFiles } from './index-keeper.ts';

interface Waiting {
  readonly resolve: (answer: FromIndex) => void;
  readonly reject: (error: Error) => void;
}

const startAfterMs = 10_000;
const heapMegabytes = 96;

/**
 * Keeps the index in a thread of its own. It begins a while after the start, or with the first search, and a thread that
 * fails is started again by the next search: no call waits for any of this.
 */
export class BackgroundIndex implements SearchIndex {
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

  readonly search = async (request: SearchRequest): Promise<SearchPage> => {
    const { page, problem } = await this.#ask(request);
    if (page === undefined) throw new Error(problem);
    return page;
  };

  readonly forgetErased = async (): Promise<void> => {
    const { isForgotten, problem } = await this.#ask('forget');
    if (isForgotten === undefined) throw new Error(problem);
  };

  #ask(request: ToIndex['request']): Promise<FromIndex> {
    if (this.#isClosed) return Promise.reject(new Error('the gate is stopping'));
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const question: ToIndex = { id, request };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
      this.#open().postMessage(question);
    });
  }

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    clearTimeout(this.#starting);
    await this.#worker?.terminate();
    this.#fail(new Error('the gate is stopping'));
  };

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
    worker.on('message', (answer: FromIndex) => {
      this.#waiting.get(answer.id)?.resolve(answer);
      this.#waiting.delete(answer.id);
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
