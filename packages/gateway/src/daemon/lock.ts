import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
 * One daemon a home. The lock of a process that no longer lives is taken over; of those that start at the same moment
 * one wins, because the file appears whole and only where there is none. Returns the release.
 */
export function takeLock(file: string, home: string): () => void {
  for (let attempt = 0; attempt < 3; attempt++) {
    if (tryCreate(file)) return () => release(file);
    const holder = readHolder(file);
    if (holder !== undefined && isAlive(holder)) throw new AlreadyRunningError(holder.pid, home);
    removeStale(file);
  }
  throw new ConfigError(
    `The lock ${file} could not be taken.`,
    'Look whether another daemon is starting, then try again.',
  );
}

/** Undefined when the file is gone or does not name a process. */
export function readHolder(file: string): Holder | undefined {
  try {
    const { pid, began = '' } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    return typeof pid === 'number' && pid > 0 ? { pid, began } : undefined;
  } catch {
    return undefined;
  }
}

function tryCreate(file: string): boolean {
  const fresh = `${file}.${process.pid}.new`;
  const holder: Holder = { pid: process.pid, began: readProcess(process.pid)?.began ?? '' };
  writeFileSync(fresh, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(fresh, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Somebody else may have taken the lock over since it was judged: what was moved away is looked at once more. */
function removeStale(file: string): void {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
    const holder = readHolder(aside);
    if (holder !== undefined && isAlive(holder)) linkSync(aside, file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function release(file: string): void {
  if (readHolder(file)?.pid === process.pid) rmSync(file, { force: true });
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
  const found = readProcess(holder.pid);
  if (found === undefined) return true;
  // Where nobody collects ended processes, a zombie keeps the id.
  return found.state !== 'Z' && (holder.began === '' || found.began === holder.began);
}

/** State and time of beginning: fields 3 and 22 of /proc/PID/stat. Undefined where there is no /proc. */
function readProcess(pid: number): { readonly state: string; readonly began: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', began: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
