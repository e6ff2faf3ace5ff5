import { fstatSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isatty } from 'node:tty';

/** The resources of an idle process. */
const ownResources: readonly string[] = ['PipeWrap', 'TTYWrap'];

/**
 * The standard input of this process. A tool that is started ahead of its call waits here. If it has nothing else to
 * do, it waits in the kernel: it continues within 0.3 ms of its input, where a stream that has never been read takes
 * 1.4.
 */
export const standardInput = { isTTY: isatty(0), [Symbol.asyncIterator]: () => readInput() };

/** The same input, for a tool that may have been started ahead: then there is time for `prepare` before the wait. */
export function preparedInput(prepare: () => Promise<void>): typeof standardInput {
  return { ...standardInput, [Symbol.asyncIterator]: () => readInput(prepare) };
}

async function* readInput(prepare?: () => Promise<void>): AsyncGenerator<Uint8Array> {
  // Work that was begun before must be able to continue.
  await nextTurn();
  const isIdle = (): boolean => process.getActiveResourcesInfo().every((name) => ownResources.includes(name));
  // Input that is there when a process starts is a file.
  if (prepare !== undefined && isIdle() && fstatSync(0).isFIFO()) await prepare();
  if (isIdle() && (yield* readWaiting())) return;
  yield* process.stdin as AsyncIterable<Uint8Array>;
}

/** Whether that was all. If not, it cannot be read like this: it may be a pipe that does not wait. */
function* readWaiting(): Generator<Uint8Array, boolean> {
  const buffer = Buffer.allocUnsafe(64 * 1024);
  for (;;) {
    let count: number;
    try {
      count = readSync(0, buffer);
    } catch {
      return false;
    }
    if (count === 0) return true;
    yield Buffer.from(buffer.subarray(0, count));
  }
}
