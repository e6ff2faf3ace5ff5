import { readdirSync, readFileSync } from 'node:fs';

/** What a process has spent of the processors, in microseconds, by the counters of the scheduler. */
export interface ThreadTimes {
  readonly main: number;
  /** The thread that owns the database. Zero: there is no such thread. */
  readonly writer: number;
  /** All threads together, those of the garbage collector and the compiler included. */
  readonly all: number;
}

/** The kernel keeps 15 characters of a name. */
const writerName = 'sallyport-writer'.slice(0, 15);

export function readThreadTimes(pid: number): ThreadTimes {
  let [writer, all] = [0, 0];
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      const us = readUs(`/proc/${pid}/task/${task}`);
      all += us;
      if (readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8').trim() === writerName) writer += us;
    } catch {
      // The thread has ended since the folder was listed.
    }
  }
  return { main: readUs(`/proc/${pid}`), writer, all };
}

/** The time spent between two readings, for each of the calls. */
export function perCall(before: ThreadTimes, after: ThreadTimes, calls: number): ThreadTimes {
  return {
    main: (after.main - before.main) / calls,
    writer: (after.writer - before.writer) / calls,
    all: (after.all - before.all) / calls,
  };
}

function readUs(folder: string): number {
  return Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}
