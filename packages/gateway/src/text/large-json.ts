import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { BareObject, StrictJsonError } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { TooManyParts } from './json-parts.ts';
import type { FromThread, Problem, ResultOf, ToThread, Work } from './large-json-thread.ts';
import { PlainJsonError } from './plain-json.ts';

/** From here on JSON is for the other thread. A shorter text takes the main thread about as long as a few calls. */
export const largeLength = 512 * 1024;

const threadFile = join(import.meta.dirname, `large-json-thread${extname(import.meta.filename)}`);

interface Waiting {
  readonly resolve: (result: ResultOf[Work['kind']]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Reads and hashes large JSON on a thread of its own: for a text of 15 MB each of that takes some tens of milliseconds, in
 * which the gate would answer nobody. What comes in first is done first. The thread starts when it is needed, and ends when
 * it was not for a while: it holds what it worked on. When it fails, all that it had to do rejects, and the next work gets
 * a new one.
 */
export class LargeJson {
  readonly #restAfterMs: number;
  readonly #file: string | URL;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #resting: NodeJS.Timeout | undefined;
  #lastId = 0;

  /** `file` is what the thread runs; tests give one that fails. */
  constructor({ restAfterMs = 5000, file = threadFile }: { readonly restAfterMs?: number; file?: string | URL } = {}) {
    this.#restAfterMs = restAfterMs;
    this.#file = file;
  }

  /** As `JSON.parse` reads it. Takes the bytes away: they are empty afterwards. Rejects with PlainJsonError or TooManyParts. */
  parseMessage(bytes: Buffer): Promise<Json> {
    const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength;
    const memory = (isWhole ? bytes : new Uint8Array(bytes)).buffer as ArrayBuffer;
    return this.#ask({ kind: 'message', bytes: memory }, [memory]);
  }

  /** As `parseStrictJson` reads it. Rejects with StrictJsonError or TooManyParts. */
  async parseArguments(text: string): Promise<Json> {
    return withoutPrototypes(await this.#ask({ kind: 'arguments', text }));
  }

  /** SHA-256 of the canonical form, hexadecimal. */
  digest(value: Json): Promise<string> {
    return this.#ask({ kind: 'digest', value });
  }

  #ask<Asked extends Work>(work: Asked, transfer: ArrayBuffer[] = []): Promise<ResultOf[Asked['kind']]> {
    const id = (this.#lastId += 1);
    clearTimeout(this.#resting);
    return new Promise((resolve, reject) => {
      const message: ToThread = { id, work };
      this.#open().postMessage(message, transfer);
      // The thread answers each kind of work with what it promises.
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
    });
  }

  #open(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#file, { name: 'sallyport-large-json' });
    this.#worker = worker;
    // A stop does not wait for it.
    worker.unref();
    worker.on('message', ({ id, result, problem }: FromThread) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#resting = setTimeout(() => this.#rest(worker), this.#restAfterMs).unref();
      if (problem === undefined) waiting?.resolve(result as ResultOf[Work['kind']]);
      else waiting?.reject(errorOf(problem));
    });
    worker.once('error', (error: Error) => this.#fail(worker, error));
    worker.once('exit', () => this.#fail(worker, new Error('the thread for large texts ended')));
    return worker;
  }

  #rest(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
  }

  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

export const largeJson = new LargeJson();

function errorOf(problem: Problem): Error {
  switch (problem.kind) {
    case 'parts':
      return new TooManyParts();
    case 'plain':
      return new PlainJsonError(problem.message);
    case 'strict':
      return new StrictJsonError(problem.reason, problem.position);
    case 'fault':
      return new Error(`large JSON could not be read: ${problem.message}`);
  }
}

/** What comes from another thread inherits from `Object.prototype`; what `parseStrictJson` returns inherits nothing. */
function withoutPrototypes(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  const entries = new BareObject();
  for (const key of Object.keys(value)) entries[key] = withoutPrototypes((value as JsonObject)[key] as Json);
  return entries;
}
