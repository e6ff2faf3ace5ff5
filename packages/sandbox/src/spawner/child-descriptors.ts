import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { ProgramNotStarted } from '../program.ts';
import type { Launch, LaunchDescriptor } from '../launch/launch.ts';
import type { Pipe, PipeStock, PipeUse } from './pipe-stock.ts';
import type { SpawnerFolder } from './spawner-folder.ts';

/** Missing from `fs.constants`, and the same number on every Linux. */
const O_PATH = 0o10000000;

/** Our ends of the pipes. Their holder closes them. */
export interface OurEnds {
  /** To be written to: a pipe, or the file that is the input. Absent: the input was given whole. */
  readonly stdin?: number;
  readonly stdout: number;
  readonly stderr: number;
  /** Absent: the launch does not report, or does not wait. */
  readonly status?: number;
  readonly release?: number;
}

export interface ChildDescriptors {
  /** By the number that the child sees. */
  readonly theirs: readonly number[];
  readonly ours: OurEnds;
  /** What the child is shown of the machine. */
  readonly shown: readonly ShownFile[];
}

/** A file or folder that was opened by its path. */
export interface ShownFile {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
}

/** Whether another file or folder, or none, is at the path by now. */
export function isExchanged({ path, dev, ino }: ShownFile): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.dev !== dev || stats.ino !== ino;
}

export interface OpeningParts {
  readonly pipes: PipeStock;
  readonly folder: SpawnerFolder;
}

/**
 * Opens everything that a child is started with. Input that is known, or will be before the child runs (`held`), is a
 * file to it: a named pipe whose writer is gone could not be opened by its name, `/dev/stdin`. Rejects with
 * ProgramNotStarted; then nothing stays open.
 */
export async function openDescriptors(
  { descriptors }: Launch,
  stdin: Uint8Array | 'later' | 'held',
  { pipes, folder }: OpeningParts,
): Promise<ChildDescriptors> {
  const kinds = ['stdout', 'stderr', ...(stdin === 'later' ? ['stdin'] : [])] as (keyof OurEnds)[];
  for (const { kind } of descriptors) if (kind === 'status' || kind === 'release') kinds.push(kind);
  const taken = await pipes.take(kinds.map((kind) => uses[kind]));
  const pipeOf = new Map(kinds.map((kind, at) => [kind, taken[at] as Pipe]));
  let ours = Object.fromEntries([...pipeOf].map(([kind, pipe]) => [kind, pipe.ours])) as unknown as OurEnds;
  const opened: number[] = [];
  const shown: ShownFile[] = [];
  const openInput = (): number | undefined => {
    if (stdin === 'later') return pipeOf.get('stdin')?.theirs;
    if (stdin !== 'held') return open({ kind: 'bytes', bytes: stdin });
    const { reading, writing } = folder.openEmpty();
    opened.push(reading, writing);
    ours = { ...ours, stdin: writing };
    return reading;
  };
  const openBytes = ({ bytes, isConstant = false }: Extract<LaunchDescriptor, { kind: 'bytes' }>): number =>
    isConstant ? folder.openConstant(bytes) : folder.openBytes(bytes);
  const open = (descriptor: LaunchDescriptor): number => {
    if (descriptor.kind === 'status' || descriptor.kind === 'release')
      return pipeOf.get(descriptor.kind)?.theirs as number;
    const fd = descriptor.kind === 'bytes' ? openBytes(descriptor) : openPath(descriptor.path);
    opened.push(fd);
    if (descriptor.kind === 'path') {
      const { dev, ino } = fstatSync(fd);
      shown.push({ path: descriptor.path, dev, ino });
    }
    return fd;
  };
  try {
    const input = openInput();
    const outputs = [pipeOf.get('stdout')?.theirs, pipeOf.get('stderr')?.theirs];
    return { theirs: [input, ...outputs, ...descriptors.map(open)] as number[], ours, shown };
  } catch (error) {
    closeAll([...opened, ...taken.flatMap((pipe) => [pipe.ours, pipe.theirs])]);
    throw error;
  }
}

const uses: Readonly<Record<keyof OurEnds, PipeUse>> = {
  stdin: 'read',
  stdout: 'write',
  stderr: 'write',
  status: 'write',
  release: 'wait',
};

export function closeAll(descriptors: Iterable<number>): void {
  for (const descriptor of descriptors) closeSync(descriptor);
}

function openPath(path: string): number {
  let fd: number | undefined;
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
    // The kernel's own name for what is open: a link on the way would show; one at the end is open itself.
    if (readlinkSync(`/proc/self/fd/${fd}`) === path && !fstatSync(fd).isSymbolicLink()) return fd;
  } catch {
    // Removed since it was checked, which is reported like any other change.
  }
  if (fd !== undefined) closeSync(fd);
  throw new ProgramNotStarted('EXECUTION_ERROR', 'A path that the program should see changed while it was opened.', {
    isTransient: true,
  });
}
