import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { WorkerOptions } from 'node:worker_threads';
import { findCompileCache } from '@sallyport/sandbox';

/**
 * Starts a program of the store as a thread. It is beside this file, in the sources and in a build. Of the environment it
 * is given only where compiled code is kept, which a thread does not know by itself.
 */
export function startThread(
  name: 'writer' | 'verify' | 'index',
  options: Pick<WorkerOptions, 'workerData' | 'resourceLimits'> = {},
): Worker {
  const cache = findCompileCache();
  return new Worker(join(import.meta.dirname, `${name}-thread${extname(import.meta.filename)}`), {
    ...options,
    name: `sallyport-${name}`,
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
  });
}

let ahead: Worker | undefined;

/** Lets the writer load its program while the daemon loads its own. It opens nothing before it is taken. */
export function startWriterAhead(): void {
  ahead ??= startThread('writer');
  // If the daemon does not even come to open its store, nobody waits for it.
  ahead.unref();
}

export function takeWriter(): Worker {
  const writer = ahead ?? startThread('writer');
  ahead = undefined;
  writer.ref();
  return writer;
}
