import { readFileSync } from 'node:fs';
import { hasCode } from '../has-code.ts';

/** A process as the kernel describes it in `/proc`. */
export interface ProcessFacts {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** With the pid, the only name of a process that is not given again: ticks since the machine started. */
  readonly startTicks: string;
  /** Its own, and of its children that ended and were waited for. */
  readonly cpuMs: number;
  /** The part of it that the kernel used for it. */
  readonly systemMs: number;
  readonly isZombie: boolean;
}

/** The same on every Linux that Node runs on. */
const msPerTick = 10;

/** Undefined when there is no such process, or no `/proc`. */
export function readProcess(pid: number): ProcessFacts | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name may hold blanks and parentheses; it ends at the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, userOfChildren = 0, systemOfChildren = 0] = fields.slice(11, 15).map(Number);
  return {
    pid,
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    startTicks: fields[19] ?? '',
    cpuMs: (user + system + userOfChildren + systemOfChildren) * msPerTick,
    systemMs: (system + systemOfChildren) * msPerTick,
    isZombie: fields[0] === 'Z',
  };
}

/**
 * Into files, its own and of its children that ended and were waited for. The kernel counts a page when it becomes
 * dirty, also through a mapping, and never takes it back. Zero when the process is gone, undefined when it is there and
 * may not be looked at.
 */
export function readWrittenBytes(pid: number): number | undefined {
  try {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);
  } catch (error) {
    return hasCode(error, 'EACCES') || hasCode(error, 'EPERM') ? undefined : 0;
  }
}

/** Of memory, now. Zero when the process is gone. */
export function readResidentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
