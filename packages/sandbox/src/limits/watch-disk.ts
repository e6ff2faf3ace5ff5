import { ProgramNotStarted } from '../program.ts';
import type { Program, ProgramEnd } from '../program.ts';
import type { Confinement } from '../spawner/confinement.ts';
import { DiskMeter } from './disk-meter.ts';

/** What the cores write together, at most, into the memory that stands before a disk. */
const fastestBytesPerMs = 8 * 1024 * 1024;
const shortestPauseMs = 10;
const longestPauseMs = 250;

export interface DiskWatch {
  /** To be called when the program is released. Returns how to stop. */
  readonly start: (onReached: (how: ProgramEnd['how']) => void) => () => void;
}

/**
 * Watches how much a program writes, in a loop of its own: a disk that does not answer holds up no other limit. To be
 * opened before the program runs. Undefined: it can change no folder of the machine, and nothing has to be watched.
 */
export async function openDiskWatch(
  { mounts, isolation, workingDirectory, limits }: Program,
  confinement: Confinement,
): Promise<DiskWatch | undefined> {
  const isSandboxed = isolation === 'sandbox';
  const folders = mounts.filter(({ access }) => access === 'write').map(({ source }) => source);
  if (!isSandboxed) folders.push(workingDirectory);
  if (folders.length === 0) return undefined;
  const meter = await DiskMeter.open(folders, confinement, { isSandboxed }).catch((cause: unknown) => {
    throw new ProgramNotStarted('LIMIT_UNENFORCEABLE', 'The space of a folder that it may change cannot be measured.', {
      cause,
      isTransient: true,
    });
  });
  return { start: (onReached) => watch(meter, limits.diskBytes, onReached) };
}

function watch(meter: DiskMeter, diskBytes: number, onReached: (how: ProgramEnd['how']) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  // As often as it takes to stop it soon after it has reached the limit.
  const lookLater = (leftBytes: number): void => {
    const pauseMs = Math.min(Math.max(leftBytes / fastestBytesPerMs, shortestPauseMs), longestPauseMs);
    timer = setTimeout(() => void look(), pauseMs);
  };
  const look = async (): Promise<void> => {
    // A disk that cannot be measured is not known to have space.
    const use = await meter.measure().catch(() => undefined);
    if (isOver) return;
    if (use === undefined || use.isSpaceLow) onReached({ kind: 'disk-nearly-full' });
    else if (use.bytes > diskBytes) onReached({ kind: 'limit', limit: 'diskBytes' });
    else lookLater(Math.min(diskBytes - use.bytes, use.roomBytes));
  };
  // How much room there is, the first look tells.
  lookLater(0);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
