import { readFileSync, readlinkSync } from 'node:fs';
import { loadForeignFunctions } from '../foreign-functions.ts';

/** What is given to the system when it is freed, and not kept for the next one. */
const largeBytes = 1024 * 1024;
/** Its number in glibc's malloc.h. */
const mmapThreshold = -3;
/** In the kernel's mman.h: pages of this range are not needed. What was not written comes from the file again. */
const MADV_DONTNEED = 4;

/** The memory of the process beside the heap of JavaScript: buffers, messages between threads, pages of its files. */
export interface SystemMemory {
  /** Gives back whole pages that are free, in all threads. */
  readonly trim: () => void;
  /**
   * Lets go of the pages of the program. Most of them were needed to start and never again, and the kernel hands out those
   * that are needed after all, from its cache.
   */
  readonly dropProgramPages: () => void;
}

/**
 * Tells glibc to give back large blocks when they are freed. By itself it learns to keep them: once a body of 15 MB has
 * been freed, it expects more of that size, and holds them in as many places as there are threads. Undefined: this is
 * another C library or an older Node, and the memory is kept as that sees fit.
 */
export function openSystemMemory(): SystemMemory | undefined {
  try {
    const { functions } = loadForeignFunctions().dlopen(null, {
      mallopt: { return: 'i32', arguments: ['i32', 'i32'] },
      malloc_trim: { return: 'i32', arguments: ['u64'] },
      madvise: { return: 'i32', arguments: ['u64', 'u64', 'i32'] },
    });
    functions.mallopt(mmapThreshold, largeBytes);
    return {
      trim: () => void functions.malloc_trim(0n),
      dropProgramPages: () => {
        for (const { from, to } of findProgramPages(readMappings())) functions.madvise(from, to - from, MADV_DONTNEED);
      },
    };
  } catch {
    return undefined;
  }
}

/** Nothing on what is no Linux. */
function readMappings(): { readonly smaps: string; readonly program: string } {
  try {
    return { smaps: readFileSync('/proc/self/smaps', 'utf8'), program: readlinkSync('/proc/self/exe') };
  } catch {
    return { smaps: '', program: '' };
  }
}

/**
 * The parts of the program itself that are not writable and were never written to: nothing in them is this process's own.
 * Only as the kernel mapped them at the start, one behind the other. Other mappings may be gone by the time they are let go
 * of, also those that V8 makes of the same file for each of its threads, and then something else may be in their place.
 */
export function findProgramPages({ smaps, program }: { readonly smaps: string; readonly program: string }) {
  const pages: { from: bigint; to: bigint }[] = [];
  let end: string | undefined;
  for (const mapping of smaps.split(/\n(?=[\da-f]+-[\da-f]+ )/)) {
    const [, from = '', to = '', rights = '', file] =
      /^([\da-f]+)-([\da-f]+) (\S+) [\da-f]+ \S+ \d+ +(\/[^\n]*)/.exec(mapping) ?? [];
    const isNext = file === program && (end === undefined || end === from);
    if (!isNext && end !== undefined) break;
    if (!isNext) continue;
    end = to;
    const isClean = /\nAnonymous: +0 kB\n/.test(mapping) && /\nPrivate_Dirty: +0 kB\n/.test(mapping);
    if (/^r-.p$/.test(rights) && isClean) pages.push({ from: BigInt(`0x${from}`), to: BigInt(`0x${to}`) });
  }
  return pages;
}
