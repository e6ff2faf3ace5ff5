import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { ConfigError } from '../../model/fault.ts';
import type { Operation, WriterOptions, Written } from './writer.ts';
import { Writer } from './writer.ts';

/** What the store posts, one or more in a message: an operation, or the wish to end. */
export type ToWriter = { readonly id: number; readonly operation: Operation } | 'close';

/** What the writer posts: first whether it is ready, then a batch of answers a commit. */
export type FromWriter =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string; readonly remedy: string | undefined; readonly config: boolean }
  | {
      readonly kind: 'written';
      readonly ids: readonly number[];
      readonly results: readonly Written[];
      readonly sealed: string | undefined;
    }
  | { readonly kind: 'closed' };

const largestGroup = 64;
const signEveryMs = 100;

if (parentPort === null) throw new Error('the writer runs as a worker thread');
const port = parentPort;
const post = (message: FromWriter): void => port.postMessage(message);

const writer = openWriter(workerData as WriterOptions);
if (writer !== undefined) serve(writer);

function openWriter(options: WriterOptions): Writer | undefined {
  try {
    const opened = new Writer(options);
    post({ kind: 'ready' });
    return opened;
  } catch (error) {
    const remedy = error instanceof ConfigError ? error.remedy : undefined;
    post({
      kind: 'failed',
      message: error instanceof Error ? error.message : String(error),
      remedy,
      config: error instanceof ConfigError,
    });
    return undefined;
  }
}

/** Commits at once when idle; what arrives while a commit runs shares the next one. No timer delays a call. */
function serve(open: Writer): void {
  let signedAtMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const signWhenDue = (): void => {
    if (!open.hasUnsigned) return;
    const waitMs = signedAtMs + signEveryMs - Date.now();
    if (waitMs <= 0) {
      open.sign();
      signedAtMs = Date.now();
    } else {
      timer ??= setTimeout(() => {
        timer = undefined;
        signWhenDue();
      }, waitMs);
    }
  };

  port.on('message', (first: readonly ToWriter[]) => {
    let pending: readonly ToWriter[] = first;
    while (pending.length > 0) {
      const operations = pending.filter((message) => message !== 'close');
      const results = open.writeGroup(operations.map((message) => message.operation));
      if (results.length > 0) {
        post({ kind: 'written', ids: operations.map((message) => message.id), results, sealed: open.sealedBecause });
      }
      if (pending.includes('close')) {
        clearTimeout(timer);
        open.close();
        post({ kind: 'closed' });
        port.close();
        return;
      }
      signWhenDue();
      pending = takeWaiting();
    }
  });
}

function takeWaiting(): ToWriter[] {
  const waiting: ToWriter[] = [];
  while (waiting.length < largestGroup) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) break;
    waiting.push(...(received.message as ToWriter[]));
  }
  return waiting;
}
