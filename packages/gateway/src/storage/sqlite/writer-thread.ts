import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { keepCompiledCode } from '@sallyport/sandbox';
import { ConfigError } from '../../call/fault.ts';
import { describeOpenFailure } from './describe-open-failure.ts';
import { flattenAnswer, readOperations } from './flat-operations.ts';
import type { FlatAnswer, FlatOperations } from './flat-operations.ts';
import type { Operation } from './operation.ts';
import { ReceivedValues } from './repeated-values.ts';
import type { Sealed, WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';
import { StateVersions } from './state/state-versions.ts';

/**
 * What the store posts: the operations of a turn of its event loop in one list; the request to end; the news that log
 * or state were changed, or that both are intact; or the request to overwrite what was deleted.
 */
export type ToWriter =
  | FlatOperations
  | { readonly seal: Sealed }
  | { readonly compact: { readonly isRoutine: boolean } }
  | 'verified'
  | 'close';

/** What the writer posts: first whether it is ready, then one message a commit. */
export type FromWriter =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string; readonly remedy: string | undefined }
  | {
      readonly kind: 'written';
      /** To the oldest operations that have no answer yet, in their order. */
      readonly answers: readonly FlatAnswer[];
      readonly sealed: Sealed | undefined;
      /** Counts and spending in the tables are older than the log. */
      readonly isBehind: boolean;
    }
  | { readonly kind: 'sealed'; readonly sealed: Sealed }
  | { readonly kind: 'healed' }
  | { readonly kind: 'compacted'; readonly isDone: boolean }
  | { readonly kind: 'closed' };

/** The most operations in one commit, so that the first of very many does not wait for all of them. */
const largestGroup = 256;
const signEveryMs = 100;
/** A gate that nobody calls commits nothing, and must notice changes all the same. */
const lookEveryMs = 5000;
const healFirstMs = 1000;
const healEveryMs = 15_000;

if (parentPort === null) throw new Error('the writer runs as a worker thread');
const port = parentPort;
const post = (message: FromWriter): void => port.postMessage(message);

/** They continue when the writer is opened again. */
const versions = new StateVersions();
const receivedValues = new ReceivedValues();
// The thread may be started before it is known what it is to open.
port.once('message', (options: WriterOptions) => {
  const opened = openWriter(options);
  if (opened === undefined) return;
  serve(opened, options);
  keepCompiledCode();
});

function openWriter(options: WriterOptions): Writer | undefined {
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
function serve(opened: Writer, options: WriterOptions): void {
  let open = opened;
  let signedAtMs = -signEveryMs;
  let timer: NodeJS.Timeout | undefined;
  let healing: NodeJS.Timeout | undefined;
  let healAfterMs = healFirstMs;

  const signWhenDue = (): void => {
    if (!open.hasUnsigned) return;
    // Not by the time of day, which may be set back: nothing would be signed until it has caught up.
    const waitMs = signedAtMs + signEveryMs - performance.now();
    if (waitMs <= 0) {
      open.sign();
      signedAtMs = performance.now();
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

  /** Opens log and state again, which verifies their ends. While that fails, the seal stays. */
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

  const healIfSealed = (): void => {
    if (open.sealed !== undefined) heal();
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

  const write = (operations: readonly Operation[]): void => {
    const written = open.writeGroup(operations);
    const answers = written.map((each, at) => flattenAnswer(operations[at] as Operation, each));
    post({ kind: 'written', answers, sealed: open.sealed, isBehind: open.isBehind });
    signWhenDue();
    healWhenDue();
  };

  port.on('message', (received: ToWriter) => {
    for (const message of takeGroups(received)) {
      if (Array.isArray(message)) write(message);
      else if (message === 'close') return end();
      else if (message === 'verified') healIfSealed();
      else if ('compact' in message) post({ kind: 'compacted', isDone: open.compact(message.compact) });
      else open.seal(message.seal);
    }
    healWhenDue();
  });
}

/** The received message and those after it, until none waits: operations in groups, the rest one by one. */
function* takeGroups(received: ToWriter): Generator<Operation[] | Exclude<ToWriter, FlatOperations>> {
  let group: Operation[] = [];
  for (let message: ToWriter | undefined = received; ; message = takeWaiting()) {
    if (Array.isArray(message)) {
      for (const operation of readOperations(message, receivedValues)) {
        group.push(operation);
        if (group.length < largestGroup) continue;
        yield group;
        group = [];
      }
      continue;
    }
    if (group.length > 0) yield group;
    else if (message === undefined) return;
    group = [];
    if (message !== undefined) yield message;
  }
}

function takeWaiting(): ToWriter | undefined {
  return receiveMessageOnPort(port)?.message as ToWriter | undefined;
}
