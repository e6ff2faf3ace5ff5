import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { ProgramNotStarted } from '../program.ts';
import type { ProgramLimits, MeasuredBy } from '../program.ts';
import type { CgroupLimits, CgroupUsage } from '../launch/cgroup.ts';
import type { CgroupPlace } from '../launch/cgroup-places.ts';
import type { GroupHome } from '../limits/group-home.ts';
import type { Enforcement } from './messages.ts';
import { ProcessTree } from '../limits/process-tree.ts';
import { readProcess } from '../limits/read-process.ts';
import type { ProcessFacts } from '../limits/read-process.ts';

/** What holds the processes of one program together: a control group, or the best there is without. */
export interface Confinement {
  readonly measuredBy: MeasuredBy;
  /** Takes a process that has not started the program yet. Rejects when that fails. */
  readonly add: (pid: number) => Promise<void>;
  /** Usage until now does not count for the program. Absent: it is not counted anyway. */
  readonly countFromNow?: () => void;
  readonly readUsage: () => CgroupUsage;
  readonly readCpuMs: () => number | undefined;
  /** Where others can read the same. Absent: nowhere. */
  readonly cpuPlace?: CgroupPlace;
  /** The processes in it now. */
  readonly listProcesses: () => readonly number[];
  readonly findReachedLimit: () => 'memoryBytes' | 'processes' | undefined;
  /** Does not wait. Call it until the confinement is empty. */
  readonly kill: () => void;
  readonly isEmpty: () => boolean;
  /** False when it has to be tried again. */
  readonly tryRemove: () => Promise<boolean>;
}

/** Why the kernel does not enforce limits, and what to do about it. */
const unenforced = {
  reason: 'CPU time, memory and processes of a program cannot be limited: the daemon may not make control groups.',
  remedy:
    'Run it as a service with "Delegate=yes" and "DelegateSubgroup=daemon", ' +
    'or start it with "systemd-run --user --scope -p Delegate=yes".',
};

/** Throws ProgramNotStarted when limits cannot be enforced as strictly as asked. */
export function checkEnforcement(home: GroupHome | undefined, enforcement: Enforcement): void {
  if (home !== undefined || enforcement === 'sampled') return;
  const { reason, remedy } = unenforced;
  throw new ProgramNotStarted('LIMIT_UNENFORCEABLE', reason, { remedy });
}

/** Rejects with ProgramNotStarted when it cannot be made. */
export async function openConfinement(home: GroupHome | undefined, limits: CgroupLimits): Promise<Confinement> {
  if (home === undefined) return new ProcessTree(limits);
  try {
    return await home.openGroup(limits);
  } catch (cause) {
    throw new ProgramNotStarted('LIMIT_UNENFORCEABLE', 'The control group of the program could not be made.', {
      cause,
      isTransient: true,
    });
  }
}

/** Resolves when nothing is left in the confinement, however long that takes. `nextEnd` is as in `ChildStarter`. */
export async function killAll(confinement: Confinement, nextEnd?: () => Promise<void>): Promise<void> {
  const pause = openPauses(nextEnd === undefined ? promptlyMs : 0);
  while (!confinement.isEmpty()) {
    confinement.kill();
    // The end of a process tells sooner than a look now and then, but need not be the last one's.
    await (nextEnd === undefined ? pause() : Promise.race([nextEnd(), pause()]));
  }
}

/**
 * Resolves when a process is gone or waits to be waited for. The last process of a control group is not counted any
 * more a moment before that, when all it had has been taken down.
 */
export async function awaitEnd(
  known: Pick<ProcessFacts, 'pid' | 'startTicks'> | undefined,
  nextEnd?: () => Promise<void>,
): Promise<void> {
  const pause = openPauses(promptlyMs);
  for (;;) {
    const now = known && readProcess(known.pid);
    if (now === undefined || now.isZombie || now.startTicks !== known?.startTicks) return;
    await (nextEnd === undefined ? pause() : Promise.race([nextEnd(), pause()]));
  }
}

export async function remove(confinement: Confinement): Promise<void> {
  const pause = openPauses(0);
  while (!(await confinement.tryRemove())) await pause();
}

/**
 * Many processes are gone within this time. For longer, looking again and again would keep the kernel from its work.
 */
const promptlyMs = 0.3;
const longestPauseMs = 50;

/** Turns of the event loop first, then slowly longer pauses. */
function openPauses(turnsForMs: number): () => Promise<void> {
  const startedAt = performance.now();
  let pauseMs = 1;
  return async () => {
    if (performance.now() - startedAt < turnsForMs) return nextTurn();
    await sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 1.3, longestPauseMs);
  };
}

/**
 * Looks at a program as often as it takes to stop it soon after it has reached a limit. Returns how to stop looking.
 */
export function watchLimits(
  confinement: Confinement,
  { cpuMs, coreCount }: { readonly cpuMs: number; readonly coreCount: number },
  onReached: (limit: keyof ProgramLimits) => void,
): () => void {
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const leftMs = cpuMs - (confinement.readCpuMs() ?? 0);
    const reached = leftMs <= 0 ? 'cpuMs' : confinement.findReachedLimit();
    if (reached !== undefined) onReached(reached);
    // All cores together cannot use it up earlier.
    else timer = setTimeout(look, Math.min(Math.max(leftMs / coreCount, 10), 250));
  };
  timer = setTimeout(look, Math.min(Math.max(cpuMs / coreCount, 10), 50));
  return () => clearTimeout(timer);
}
