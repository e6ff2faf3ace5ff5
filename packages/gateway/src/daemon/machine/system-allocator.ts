import type * as foreignFunctions from 'node:ffi';

/** What is given to the system when it is freed, and not kept for the next one. */
const largeBytes = 1024 * 1024;
/** Its number in glibc's malloc.h. */
const mmapThreshold = -3;

/** The memory of the process beside the heap of JavaScript: buffers, messages between threads, the pages of SQLite. */
export interface SystemAllocator {
  /** Gives back whole pages that are free, in all threads. */
  readonly trim: () => void;
}

/**
 * Tells glibc to give back large blocks when they are freed. By itself it learns to keep them: once a body of 15 MB has
 * been freed, it expects more of that size, and holds them in as many places as there are threads. Undefined: this is
 * another C library or an older Node, and the memory is kept as that sees fit.
 */
export function openSystemAllocator(): SystemAllocator | undefined {
  try {
    const { functions } = loadForeignFunctions().dlopen(null, {
      mallopt: { return: 'i32', arguments: ['i32', 'i32'] },
      malloc_trim: { return: 'i32', arguments: ['u64'] },
    });
    functions.mallopt(mmapThreshold, largeBytes);
    return { trim: () => void functions.malloc_trim(0n) };
  } catch {
    return undefined;
  }
}

/** Node warns that this part of it may change. An operator can do nothing about that. */
function loadForeignFunctions(): typeof foreignFunctions {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:ffi');
  } finally {
    process.emitWarning = emitWarning;
  }
}
