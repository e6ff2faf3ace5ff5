import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Confinement } from '../spawner/confinement.ts';
import { readProcess, readWrittenBytes } from './read-process.ts';

const mebibyte = 1024 * 1024;
/** ext, xfs, btrfs and f2fs: there the kernel counts what each process writes. */
const countingTypes: ReadonlySet<number> = new Set([0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010]);
/** More than a processor can write in that time. */
const mostBytesPerCpuMs = 16 * mebibyte;
/**
 * Folders, long links and attributes take space too; the kernel counts them for nobody, and needs time to make them.
 */
const mostUncountedPerSystemMs = mebibyte / 4;
/** Above what the daemon keeps for its own log, so that a program stops first. */
const reserve = { bytes: 256 * mebibyte, entries: 10_000, share: 0.05 } as const;
/** A program that has written less is not the one that fills the disk. */
const blameless = { bytes: mebibyte, entries: 1000 } as const;

type Processes = Pick<Confinement, 'listProcesses' | 'readCpuMs' | 'measuredBy'>;

interface Sum {
  readonly bytes: number;
  readonly cpuMs: number;
  readonly systemMs: number;
  /** False: a process may not be read. */
  readonly isComplete: boolean;
}

interface FileSystem {
  /** Where it is mounted: that cannot be moved or deleted. */
  readonly place: string;
  readonly isCounted: boolean;
  readonly freeBytes: number;
  readonly freeEntries: number;
}

export interface DiskUse {
  /** Written by the program so far, as far as can be told. */
  readonly bytes: number;
  /** That can still be written before a disk is nearly full. */
  readonly roomBytes: number;
  /** A disk that it writes to has hardly any space left. */
  readonly isSpaceLow: boolean;
}

/**
 * Measures what a program writes into folders of the machine. First source: what the kernel counts for each process.
 * Children that nobody waits for take their count with them, and folders are not counted. So the space that is gone
 * since the start counts too, but only as much as the program can have taken that way in its CPU time: others write as
 * well. Where the kernel does not count (tmpfs), or the counts cannot be read, all the space that is gone counts.
 */
export class DiskMeter {
  readonly #processes: Processes;
  readonly #isCountComplete: boolean;
  readonly #start: readonly FileSystem[];
  #last = 0;
  /** Counted for processes that took their count with them. */
  #lost = 0;

  private constructor(processes: Processes, isSandboxed: boolean, start: readonly FileSystem[]) {
    this.#processes = processes;
    // Without a sandbox a program can reserve space, which is not counted.
    this.#isCountComplete = isSandboxed && processes.measuredBy === 'cgroup';
    this.#start = start;
  }

  /** To be opened before the program runs. */
  static async open(
    folders: readonly string[],
    processes: Processes,
    { isSandboxed }: { readonly isSandboxed: boolean },
  ): Promise<DiskMeter> {
    const places = new Set(await Promise.all(folders.map(findMount)));
    return new DiskMeter(processes, isSandboxed, await Promise.all([...places].map(readFileSystem)));
  }

  async measure(): Promise<DiskUse> {
    const now = await Promise.all(this.#start.map(({ place }) => readFileSystem(place)));
    const gone = { counted: 0, uncounted: 0 };
    for (const [at, { isCounted, freeBytes }] of this.#start.entries()) {
      gone[isCounted ? 'counted' : 'uncounted'] += Math.max(0, freeBytes - (now[at]?.freeBytes ?? 0));
    }
    const { counted, unseen } = this.#count();
    const bytes = Math.max(counted, Math.min(gone.counted, counted + unseen)) + gone.uncounted;
    const isSpaceLow = now.some((each, at) => isLow(each, this.#start[at] ?? each, bytes));
    const roomBytes = Math.min(...now.map(({ freeBytes, keepBytes }) => freeBytes - keepBytes));
    return { bytes, roomBytes, isSpaceLow };
  }

  #count(): { readonly counted: number; readonly unseen: number } {
    let sum = this.#sum();
    // A child that is waited for in the middle of a look can be missing in it; in a second look it is with its parent.
    if (sum.bytes < this.#last) sum = this.#sum();
    this.#lost += Math.max(0, this.#last - sum.bytes);
    this.#last = sum.bytes;
    const missingMs = Math.max(0, (this.#processes.readCpuMs() ?? Infinity) - sum.cpuMs);
    const isComplete = this.#isCountComplete && sum.isComplete;
    const mostUnseen = missingMs * mostBytesPerCpuMs + sum.systemMs * mostUncountedPerSystemMs;
    return { counted: this.#lost + sum.bytes, unseen: isComplete ? mostUnseen : Infinity };
  }

  #sum(): Sum {
    const sum = { bytes: 0, cpuMs: 0, systemMs: 0, isComplete: true };
    // Parents first, so that nothing is counted for the child and again for the parent.
    for (const pid of this.#processes.listProcesses().toSorted((a, b) => a - b)) {
      const bytes = readWrittenBytes(pid);
      sum.bytes += bytes ?? 0;
      const facts = readProcess(pid);
      sum.cpuMs += facts?.cpuMs ?? 0;
      sum.systemMs += facts?.systemMs ?? 0;
      sum.isComplete &&= bytes !== undefined;
    }
    return sum;
  }
}

/** The highest folder above that is on the same file system. */
async function findMount(folder: string): Promise<string> {
  const { dev } = await stat(folder);
  let place = folder;
  for (let above = dirname(place); above !== place; above = dirname(place)) {
    if ((await stat(above)).dev !== dev) break;
    place = above;
  }
  return place;
}

interface Reading extends FileSystem {
  readonly keepBytes: number;
  readonly keepEntries: number;
}

async function readFileSystem(place: string): Promise<Reading> {
  const { type, bsize, blocks, bavail, files, ffree } = await statfs(place);
  return {
    place,
    isCounted: countingTypes.has(type),
    freeBytes: bavail * bsize,
    freeEntries: ffree,
    keepBytes: Math.min(reserve.bytes, blocks * bsize * reserve.share),
    // Some file systems make entries as they go, and say that they have none.
    keepEntries: Math.min(reserve.entries, files * reserve.share),
  };
}

function isLow(now: Reading, start: FileSystem, bytes: number): boolean {
  return (
    (now.freeBytes < now.keepBytes && bytes >= blameless.bytes) ||
    (now.freeEntries < now.keepEntries && start.freeEntries - now.freeEntries >= blameless.entries)
  );
}
