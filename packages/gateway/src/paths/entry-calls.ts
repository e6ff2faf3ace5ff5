import { constants, openSync, readlinkSync } from 'node:fs';
import { loadForeignFunctions } from '@sallyport/sandbox';

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** The same number on every Linux that Node runs on, and missing from `fs.constants`. */
const O_CLOEXEC = 0o2000000;
/** Whatever the entry is: no link is followed, nothing is waited for, and nothing happens to a device. */
const openingFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** A path has at most 4096 bytes, with the NUL at its end. */
const longestPath = 4096;

/** What a read asks of the kernel about an entry of a folder that is held open. */
export interface EntryCalls {
  /** The entry, open for reading. Undefined where that fails, for whatever reason. */
  readonly open: (folder: number, name: string) => number | undefined;
  /** Whether the kernel calls by this path what is open. */
  readonly isAt: (fd: number, path: string) => boolean;
}

/**
 * Asks the kernel directly, where Node can call the C library. It has no `openat` of its own, and to say the same through
 * `/proc/self/fd` takes the kernel more than twice the time.
 */
export function chooseEntryCalls(): EntryCalls {
  try {
    return callLibrary();
  } catch {
    return callThroughProc;
  }
}

export const callThroughProc: EntryCalls = {
  open: (folder, name) => {
    try {
      return openSync(`/proc/self/fd/${folder}/${name}`, openingFlags);
    } catch {
      return undefined;
    }
  },
  isAt: (fd, path) => readlinkSync(`/proc/self/fd/${fd}`, 'buffer').equals(Buffer.from(path)),
};

/** Throws where there is no such library. */
export function callLibrary(): EntryCalls {
  const { dlopen, getRawPointer } = loadForeignFunctions();
  const { functions } = dlopen(null, {
    openat: { return: 'i32', arguments: ['i32', 'pointer', 'i32'] },
    readlinkat: { return: 'i32', arguments: ['i32', 'pointer', 'pointer', 'u32'] },
  });
  const descriptors = openSync('/proc/self/fd', O_RDONLY | O_DIRECTORY);
  // Memory of its own each, which stays where it is for as long as these functions live.
  const name = Buffer.alloc(2 * longestPath);
  const found = Buffer.alloc(2 * longestPath);
  const [nameAt, foundAt] = [getRawPointer(name), getRawPointer(found)];
  const writeName = (text: string): void => {
    name[name.write(text, 0, longestPath)] = 0;
  };
  return {
    open: (folder, entry) => {
      // C would end the name there, and open another one.
      if (entry.length > longestPath / 4 || entry.includes('\0')) return undefined;
      writeName(entry);
      const fd = functions.openat(folder, nameAt, openingFlags | O_CLOEXEC);
      return fd < 0 ? undefined : fd;
    },
    isAt: (fd, path) => {
      writeName(String(fd));
      const length = functions.readlinkat(descriptors, nameAt, foundAt, found.length);
      // The length as well: bytes that are no text look like the character that stands for them.
      return length === Buffer.byteLength(path) && found.toString('utf8', 0, length) === path;
    },
  };
}
