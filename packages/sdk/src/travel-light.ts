import { readFileSync, readlinkSync } from 'node:fs';
import type * as foreignFunctions from 'node:ffi';

/** In the kernel's mman.h: pages of this range are not needed. What was not written comes from the file again. */
const MADV_DONTNEED = 4;
/** The loader maps these at the start, and nobody takes them away. */
const libraryName = /^\/(?:usr\/)?lib.*\.so(?:\.[\d.]+)?$/;

/**
 * Lets go of the pages of Node that this process needed to start and will not need again. Its caller waits until they
 * are unmapped when it ends, a millisecond for all of them. Does nothing where Node or the machine cannot do it.
 */
export function dropStartPages(): void {
  try {
    const { functions } = loadForeignFunctions().dlopen(null, {
      madvise: { return: 'i32', arguments: ['u64', 'u64', 'i32'] },
    });
    const { madvise } = functions;
    const pages = findStartPages(readFileSync('/proc/self/smaps', 'utf8'), readlinkSync('/proc/self/exe'));
    // One after the other, or the work in between would bring back what it needs.
    for (const { from, length } of pages) madvise(from, length, MADV_DONTNEED);
  } catch {
    // Then its end takes longer.
  }
}

/**
 * The parts of the program and its libraries that were never written to, so that nothing in them is this process's own.
 * Of the program only as the kernel mapped them at the start, one behind the other: V8 maps the same file again for
 * itself, and may have put something else there by now.
 */
export function findStartPages(smaps: string, program: string): { from: bigint; length: bigint }[] {
  const pages: { from: bigint; length: bigint }[] = [];
  let programEnd: string | undefined;
  for (const mapping of smaps.split(/\n(?=[\da-f]+-[\da-f]+ )/)) {
    const [, from = '', to = '', rights = '', file = ''] =
      /^([\da-f]+)-([\da-f]+) (\S+) [\da-f]+ \S+ \d+ +(\/[^\n]*)/.exec(mapping) ?? [];
    const isOfStart = file === program && (programEnd === undefined || programEnd === from);
    if (isOfStart) programEnd = to;
    const isClean = /\nAnonymous: +0 kB\n/.test(mapping) && /\nPrivate_Dirty: +0 kB\n/.test(mapping);
    if ((isOfStart || libraryName.test(file)) && /^r-.p$/.test(rights) && isClean) {
      pages.push({ from: BigInt(`0x${from}`), length: BigInt(`0x${to}`) - BigInt(`0x${from}`) });
    }
  }
  return pages;
}

/** Node warns that this part of it may change. The caller of a tool can do nothing about that. */
function loadForeignFunctions(): typeof foreignFunctions {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:ffi');
  } finally {
    process.emitWarning = emitWarning;
  }
}
