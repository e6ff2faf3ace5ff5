import { existsSync, readFileSync } from 'node:fs';
import { ProgramNotStarted } from '../program.ts';
import type { ProgramLimits } from '../program.ts';
import type { Launch } from '../launch/launch.ts';

const prlimit = '/usr/bin/prlimit';
/** What the processes that build the sandbox need open themselves, besides what they are handed. */
const filesOfSandbox = 16;

/**
 * The same launch under the limits that the kernel keeps per process. They are set by a small program that becomes the
 * launched one: 0.8 ms, less than changing them from outside, and never late. CPU time is limited for all processes
 * together elsewhere; here it is the last resort.
 */
export function limitResources(launch: Launch, limits: ProgramLimits, highest = readHighest()): Launch {
  const fewestFiles = launch.descriptors.length + filesOfSandbox;
  if (limits.openFiles < fewestFiles) {
    throw new ProgramNotStarted(
      'LIMIT_UNENFORCEABLE',
      `The sandbox itself needs ${fewestFiles} open files, and the limit is ${limits.openFiles}.`,
      { remedy: `Raise the limit "openFiles" to at least ${fewestFiles}.` },
    );
  }
  if (!existsSync(prlimit)) {
    throw new ProgramNotStarted('LIMIT_UNENFORCEABLE', `File sizes and open files need ${prlimit}, which is missing.`, {
      remedy: 'Install util-linux.',
    });
  }
  const cpuSeconds = Math.ceil(limits.cpuMs / 1000) + 1;
  const fileBytes = Math.min(limits.fileBytes, highest.fileBytes);
  const openFiles = Math.min(limits.openFiles, highest.openFiles);
  const args = [
    '--core=0:0',
    `--fsize=${fileBytes}:${fileBytes}`,
    `--nofile=${openFiles}:${openFiles}`,
    // A second between the signal that tells of it and the one that kills.
    `--cpu=${Math.min(cpuSeconds, highest.cpuSeconds)}:${Math.min(cpuSeconds + 1, highest.cpuSeconds)}`,
  ];
  return { ...launch, file: prlimit, args: [...args, '--', launch.file, ...launch.args] };
}

interface Highest {
  readonly fileBytes: number;
  readonly openFiles: number;
  readonly cpuSeconds: number;
}

let highestOfThisProcess: Highest | undefined;

/** What this process may not exceed, its children cannot be given. */
function readHighest(): Highest {
  highestOfThisProcess ??= parseLimits(readFileSync('/proc/self/limits', 'utf8'));
  return highestOfThisProcess;
}

function parseLimits(text: string): Highest {
  const hard = (name: string): number => {
    const [, value] = new RegExp(`^${name} +\\S+ +(\\d+)`, 'm').exec(text) ?? [];
    return value === undefined ? Number.MAX_SAFE_INTEGER : Number(value);
  };
  return { fileBytes: hard('Max file size'), openFiles: hard('Max open files'), cpuSeconds: hard('Max cpu time') };
}
