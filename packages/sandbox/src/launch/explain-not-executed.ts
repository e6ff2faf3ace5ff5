import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { ProgramNotStarted } from '../program.ts';
import type { Program } from '../program.ts';
import { runtimeFolder } from './check-mount.ts';
import { isWithin } from '../is-within.ts';

/** What every sandbox shows of the machine. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const longestFirstLine = 256;

type Started = Pick<Program, 'argv' | 'mounts' | 'isolation'>;

/** Why the kernel did not execute a program, with what would help. */
export function explainNotExecuted(program: Started): ProgramNotStarted {
  const [message, remedy] = findCause(program);
  return new ProgramNotStarted('TOOL_MISSING', message, remedy === undefined ? {} : { remedy });
}

type Cause = readonly [message: string, remedy?: string];

function findCause(program: Started): Cause {
  const [file] = program.argv;
  const problem = findProblem(file, program);
  if (problem !== undefined) return problem;
  const interpreter = readInterpreter(locate(file, program) ?? file);
  if (interpreter !== undefined && findProblem(interpreter, program) !== undefined) {
    return [`The first line of ${file} names ${interpreter}, which is not there or cannot be executed in the sandbox.`];
  }
  return [`${file} cannot be started: its loader or a library is missing, or it was built for another machine.`];
}

/** Undefined: the file is visible and executable. */
function findProblem(file: string, program: Started): Cause | undefined {
  const outside = locate(file, program);
  if (outside === undefined) {
    return [`${file} is not visible in the sandbox.`, 'Grant the folder that holds it with read.'];
  }
  const stats = statSync(outside, { throwIfNoEntry: false });
  if (stats === undefined) return [`There is no file ${file}.`];
  if (!stats.isFile()) return [`${file} is not a file.`];
  try {
    accessSync(outside, constants.X_OK);
    return undefined;
  } catch {
    return [`${file} is not executable.`, 'Make it so with chmod +x.'];
  }
}

/** The path on the machine of what the program sees at `path`. Undefined: the program does not see it. */
function locate(path: string, { mounts, isolation }: Started): string | undefined {
  if (isolation === 'none') return path;
  if (isWithin(runtimeFolder, path)) return process.execPath;
  const [mount] = mounts
    .filter(({ target }) => isWithin(target, path))
    .sort((a, b) => b.target.length - a.target.length);
  if (mount === undefined) return systemFolders.some((folder) => isWithin(folder, path)) ? path : undefined;
  const outside = posix.join(mount.source, posix.relative(mount.target, path));
  return mount.hidden?.some((hidden) => isWithin(hidden, outside)) === true ? undefined : outside;
}

/** Of a script. Undefined: it is no script, or cannot be read. */
function readInterpreter(file: string): string | undefined {
  const bytes = Buffer.alloc(longestFirstLine);
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const [line = ''] = bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0)).split('\n');
      return /^#![ \t]*([^ \t]+)/.exec(line)?.[1];
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
