import { ToolFailure } from '../call/tool.ts';

export type ChunkSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The bytes stopped coming before their end. Those that came are still valid. */
export class UploadInterrupted extends Error {
  readonly failure: ToolFailure;

  constructor(failure: ToolFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.name = 'UploadInterrupted';
    this.failure = failure;
  }
}

/** The chunks of a source. Throws UploadInterrupted when it fails, when the signal aborts, or when it falls silent. */
export async function* receiveChunks(
  source: ChunkSource,
  { signal, idleMs }: { readonly signal: AbortSignal; readonly idleMs: number },
): AsyncGenerator<Uint8Array> {
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  // One waiting reader at a time; racing each chunk against one long promise would leave a reaction behind for each.
  let interrupt: (error: UploadInterrupted) => void = () => undefined;
  const onAbort = (): void => interrupt(interruptedBy(signal.reason));
  const silence = setTimeout(() => interrupt(fellSilent(idleMs)), idleMs);
  signal.addEventListener('abort', onAbort);
  try {
    for (;;) {
      if (signal.aborted) throw interruptedBy(signal.reason);
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        interrupt = reject;
        Promise.resolve(iterator.next()).then(resolve, (error: unknown) => reject(interruptedBy(error)));
      });
      if (next.done) return;
      yield next.value;
      silence.refresh();
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a source that is stuck would hold us, too.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function interruptedBy(reason: unknown): UploadInterrupted {
  const failure =
    reason instanceof ToolFailure ? reason : new ToolFailure('CANCELLED', 'The sender broke off the upload.');
  return new UploadInterrupted(failure, { cause: reason });
}

function fellSilent(idleMs: number): UploadInterrupted {
  return new UploadInterrupted(new ToolFailure('TIMEOUT', `No byte of the upload came for ${idleMs / 1000} s.`));
}
