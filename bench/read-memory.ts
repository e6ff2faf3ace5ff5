import { readdirSync, readFileSync } from 'node:fs';

/** Megabytes of memory that a process holds, by what the kernel says. */
export interface Memory {
  /** All that is mapped and present. Pages of the runtime's own file are counted anew in each process that has them. */
  readonly resident: number;
  /** The same, with each page shared out among the processes that have it: these can be added up. */
  readonly proportional: number;
  /** What nobody else has. */
  readonly own: number;
}

/** Of a daemon with everything that it started, without the programs in sandboxes. */
export function readMemoryOfAll(pid: number): Memory {
  return listOwn(pid).map(readMemory).reduce(add);
}

/** A process and its children, up to where a sandbox begins. */
function listOwn(pid: number): number[] {
  if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'bwrap') return [];
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(listOwn)];
}

export function readMemory(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { resident: read('Rss'), proportional: read('Pss'), own: read('Private_Clean') + read('Private_Dirty') };
}

function add(one: Memory, other: Memory): Memory {
  return {
    resident: one.resident + other.resident,
    proportional: one.proportional + other.proportional,
    own: one.own + other.own,
  };
}
