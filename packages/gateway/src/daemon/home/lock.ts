import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { holdFile } from '../../storage/sqlite/hold-file.ts';

export class AlreadyRunningError extends Error {
  readonly pid: number;

  constructor(pid: number, home: string) {
    super(`Sallyport is already running for ${home} (${pid === 0 ? 'it is just starting' : `process ${pid}`}).`);
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
 * One daemon a home. The lock itself is one that the kernel holds on a file beside this one, so that it ends with its
 * process and holds across containers that share the home; this file names the holder. Returns the release.
 */
export function takeLock(file: string, home: string): () => void {
  const letGo = holdFile(`${file}.held`);
  const holder = readHolder(file);
  if (letGo === undefined) throw new AlreadyRunningError(holder?.pid ?? 0, home);
  // A version before this one may be running, which has no lock but its name.
  if (holder !== undefined && holder.pid !== process.pid && isAlive(holder)) {
    letGo();
    throw new AlreadyRunningError(holder.pid, home);
  }
  try {
    nameHolder(file);
  } catch (error) {
    letGo();
    throw error;
  }
  return () => {
    release(file);
    letGo();
  };
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

function nameHolder(file: string): void {
  const fresh = `${file}.${process.pid}.new`;
  const holder: Holder = { pid: process.pid, began: readProcess(process.pid)?.began ?? '' };
  writeFileSync(fresh, JSON.stringify(holder), { mode: 0o600 });
  renameSync(fresh, file);
}

function release(file: string): void {
  if (readHolder(file)?.pid === process.pid) rmSync(file, { force: true });
}

/** False for a process that has ended and that nobody has collected, and for another one that got its id. */
export function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
  const found = readProcess(holder.pid);
  if (found === undefined) return true;
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
