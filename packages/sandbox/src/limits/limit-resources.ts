import { existsSync, readFileSync } from 'node:fs';
import { ProgramNotStarted } from '../program.ts';
import type { ProgramLimits } from '../program.ts';
import type { Launch } from '../launch/launch.ts';

const prlimit = '/usr/bin/prlimit';
/** What the processes that build the sandbox need open themselves, besides what they are handed. */
const filesOfSandbox = 16;

/** Kept by the kernel for each process. CPU time is limited for all together elsewhere; here it is the last resort. */
export interface ResourceLimits {
  readonly fileBytes: number;
  readonly openFiles: number;
  /** One signal warns the process, and a second later another kills it. */
  readonly cpuSeconds: { readonly soft: number; readonly hard: number };
}

/** What a launch is to run under. Throws ProgramNotStarted when the sandbox itself could not work under it. */
export function resourceLimits(
  { descriptors }: Pick<Launch, 'descriptors'>,
  limits: ProgramLimits,
  highest = readHighest(),
): ResourceLimits {
  const fewestFiles = descriptors.length + filesOfSandbox;
  if (limits.openFiles < fewestFiles) {
    throw new ProgramNotStarted(
      'LIMIT_UNENFORCEABLE',
      `The sandbox itself needs ${fewestFiles} open files, and the limit is ${limits.openFiles}.`,
      { remedy: `Raise the limit "openFiles" to at least ${fewestFiles}.` },
    );
  }
  const cpuSeconds = Math.ceil(limits.cpuMs / 1000) + 1;
  return {
    fileBytes: Math.min(limits.fileBytes, highest.fileBytes),
    openFiles: Math.min(limits.openFiles, highest.openFiles),
    cpuSeconds: {
      soft: Math.min(cpuSeconds, highest.cpuSeconds),
      hard: Math.min(cpuSeconds + 1, highest.cpuSeconds),
    },
  };
}

/**
 * The same launch under its limits, where the starting process cannot set them: a small program sets them and becomes
 * the launched one. It costs 0.8 ms.
 */
export function limitResources(launch: Launch, limits: ProgramLimits, highest = readHighest()): Launch {
  const { fileBytes, openFiles, cpuSeconds } = resourceLimits(launch, limits, highest);
  if (!existsSync(prlimit)) {
    throw new ProgramNotStarted('LIMIT_UNENFORCEABLE', `File sizes and open files need ${prlimit}, which is missing.`, {
      remedy: 'Install util-linux.',
    });
  }
  const args = [
    '--core=0:0',
    `--fsize=${fileBytes}:${fileBytes}`,
    `--nofile=${openFiles}:${openFiles}`,
    `--cpu=${cpuSeconds.soft}:${cpuSeconds.hard}`,
  ];
  return { ...launch, file: prlimit, args: [...args, '--', launch.file, ...launch.args] };
}

interface Highest {
  readonly fileBytes: number;
  readonly openFiles: number;
  readonly cpuSeconds: number;
}

let highestOfThisProcess: Highest | undefined;

/** The limits of this process, which its children cannot exceed. */
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
