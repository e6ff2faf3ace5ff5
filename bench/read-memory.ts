import { readdirSync, readFileSync } from 'node:fs';

/** Megabytes of memory that a daemon and everything that it started hold, each by what the kernel says. */
export interface Memory {
  readonly daemon: number;
  /** Without the programs in sandboxes. */
  readonly all: number;
}

export function readMemory(pid: number): Memory {
  const own = listOwn(pid).map(residentMb);
  return { daemon: residentMb(pid), all: own.reduce((sum, mb) => sum + mb, 0) };
}

/** A process and its children, up to where a sandbox begins. */
function listOwn(pid: number): number[] {
  if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'bwrap') return [];
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(listOwn)];
}

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) / 1024;
}
