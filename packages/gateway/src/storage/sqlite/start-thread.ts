import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { WorkerOptions } from 'node:worker_threads';
import { findCompileCache } from '@sallyport/sandbox';

/**
 * Starts a program of the store as a thread. It is beside this file, in the sources and in a build. From the
 * environment it gets only the folder of compiled code, which threads do not inherit.
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

/** Lets the writer load its program while the daemon loads its own. It opens nothing before it is used. */
export function startWriterAhead(): void {
  ahead ??= startThread('writer');
  // If the daemon never opens its store, its exit does not wait for the thread.
  ahead.unref();
}

export function takeWriter(): Worker {
  const writer = ahead ?? startThread('writer');
  ahead = undefined;
  writer.ref();
  return writer;
}
