import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { ConfigError } from '../model/fault.ts';

export class AlreadyRunningError extends Error {
  readonly pid: number;

  constructor(pid: number, home: string) {
    super(`Sallyport is already running for ${home} (process ${pid}).`);
    this.name = 'AlreadyRunningError';
    this.pid = pid;
  }
}

interface Holder {
  readonly pid: number;
  /** When the process began, as the kernel counts it: tells a reused process id from the one that wrote the lock. */
  readonly began: string;
}

/**
 * One daemon a home. The lock of a process that no longer lives is taken over; two that start at the same moment
 * cannot both win, because creating the file is exclusive. Returns the release.
 */
export function takeLock(file: string, home: string): () => void {
  for (let attempt = 0; attempt < 3; attempt++) {
    if (tryCreate(file)) return () => rmSync(file, { force: true });
    const holder = readHolder(file);
    if (holder !== undefined && isAlive(holder)) throw new AlreadyRunningError(holder.pid, home);
    rmSync(file, { force: true });
  }
  throw new ConfigError(
    `The lock ${file} could not be taken.`,
    'Look whether another daemon is starting, then try again.',
  );
}

function tryCreate(file: string): boolean {
  try {
    const descriptor = openSync(file, 'wx', 0o600);
    writeSync(descriptor, JSON.stringify({ pid: process.pid, began: beginningOf(process.pid) ?? '' } satisfies Holder));
    closeSync(descriptor);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined when the file is gone or was cut off in writing. */
export function readHolder(file: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    return typeof holder.pid === 'number' && holder.pid > 0
      ? { pid: holder.pid, began: holder.began ?? '' }
      : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  const began = beginningOf(holder.pid);
  return began === undefined || holder.began === '' || began === holder.began;
}

/** Field 22 of /proc/PID/stat. Undefined where there is no /proc. */
function beginningOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
