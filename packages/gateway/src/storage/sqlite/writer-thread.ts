import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { ConfigError } from '../../call/fault.ts';
import { describeOpenFailure } from './describe-open-failure.ts';
import type { Operation, Sealed, WriterOptions, Written } from './writer.ts';
import { Writer } from './writer.ts';
import { StateVersions } from './state/state-versions.ts';

/**
 * What the store posts, one or more in a message: an operation, the wish to end, that log or state were found to be
 * changed, or that both were found to be whole.
 */
export type ToWriter =
  | { readonly id: number; readonly operation: Operation }
  | { readonly seal: Sealed }
  | 'verified'
  | 'close';

/** What the writer posts: first whether it is ready, then a batch of answers a commit. */
export type FromWriter =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string; readonly remedy: string | undefined }
  | {
      readonly kind: 'written';
      readonly ids: readonly number[];
      readonly results: readonly Written[];
      readonly sealed: Sealed | undefined;
    }
  | { readonly kind: 'sealed'; readonly sealed: Sealed }
  | { readonly kind: 'healed' }
  | { readonly kind: 'closed' };

const largestGroup = 64;
const signEveryMs = 100;
/** A gate that nobody calls commits nothing, and should know all the same. */
const lookEveryMs = 5000;
const healFirstMs = 1000;
const healEveryMs = 15_000;

if (parentPort === null) throw new Error('the writer runs as a worker thread');
const port = parentPort;
const post = (message: FromWriter): void => port.postMessage(message);

const options = workerData as WriterOptions;
/** They go on when the writer is opened anew. */
const versions = new StateVersions();
const first = openWriter();
if (first !== undefined) serve(first);

function openWriter(): Writer | undefined {
  try {
    const opened = new Writer(options, versions);
    post({ kind: 'ready' });
    return opened;
  } catch (error) {
    const { message, remedy } = error instanceof ConfigError ? error : describeOpenFailure(error, options.databaseFile);
    post({ kind: 'failed', message, remedy });
    return undefined;
  }
}

/** Commits at once when idle; what arrives while a commit runs shares the next one. No timer delays a call. */
function serve(opened: Writer): void {
  let open = opened;
  let signedAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let healing: NodeJS.Timeout | undefined;
  let healAfterMs = healFirstMs;

  const signWhenDue = (): void => {
    if (!open.hasUnsigned) return;
    const waitMs = signedAtMs + signEveryMs - Date.now();
    if (waitMs <= 0) {
      open.sign();
      signedAtMs = Date.now();
      if (open.sealed !== undefined) post({ kind: 'sealed', sealed: open.sealed });
    } else {
      timer ??= setTimeout(() => {
        timer = undefined;
        signWhenDue();
        healWhenDue();
      }, waitMs);
    }
  };

  const healWhenDue = (): void => {
    if (open.sealed === undefined || open.sealed.isChanged || healing !== undefined) return;
    healing = setTimeout(() => {
      healing = undefined;
      healAfterMs = Math.min(healAfterMs * 2, healEveryMs);
      heal();
      healWhenDue();
    }, healAfterMs);
  };

  /** Opens log and state anew, which verifies their ends. While that fails the seal stays as it is. */
  const heal = (): void => {
    try {
      const healed = new Writer({ ...options, adoptState: false, isReopened: true }, versions);
      open.close();
      open = healed;
    } catch {
      return;
    }
    healAfterMs = healFirstMs;
    post({ kind: 'healed' });
  };

  const looking = setInterval(() => {
    if (open.sealed !== undefined) return;
    open.lookForChanges();
    if (open.sealed !== undefined) post({ kind: 'sealed', sealed: open.sealed });
    healWhenDue();
  }, lookEveryMs);

  const end = (): void => {
    clearInterval(looking);
    clearTimeout(timer);
    clearTimeout(healing);
    open.close();
    post({ kind: 'closed' });
    port.close();
  };

  port.on('message', (received: readonly ToWriter[]) => {
    let pending: readonly ToWriter[] = received;
    while (pending.length > 0) {
      const operations = pending.flatMap((message) =>
        typeof message === 'object' && 'operation' in message ? [message] : [],
      );
      const results = open.writeGroup(operations.map((message) => message.operation));
      if (results.length > 0) {
        post({ kind: 'written', ids: operations.map((message) => message.id), results, sealed: open.sealed });
      }
      for (const message of pending) if (typeof message === 'object' && 'seal' in message) open.seal(message.seal);
      if (pending.includes('close')) return end();
      if (pending.includes('verified') && open.sealed !== undefined) heal();
      signWhenDue();
      healWhenDue();
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
