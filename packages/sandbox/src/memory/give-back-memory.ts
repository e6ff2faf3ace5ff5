import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openSystemMemory } from './system-memory.ts';

const lookEveryMs = 5000;
/** Preparing takes milliseconds, which a start does not have. */
const prepareAfterMs = 1000;
/** Share of one processor. A process that uses less is idle. */
const idleShare = 0.02;

/**
 * Gives back what a start or a burst of work has left behind, once nothing happens any more: by itself the runtime keeps it
 * until somebody needs memory, and an idle process never does. A process at work is not disturbed. Returns how to stop.
 */
export function giveBackMemory(countWork: () => number, collect?: () => void): () => void {
  let collectNow = collect;
  const preparing = setTimeout(() => (collectNow ??= openCollector()), prepareAfterMs).unref();
  let since = process.cpuUsage();
  let hasWorked = true;
  const look = (): void => {
    const { user, system } = process.cpuUsage(since);
    const isIdle = countWork() === 0 && (user + system) / 1000 < idleShare * lookEveryMs;
    if (isIdle && hasWorked) collectNow?.();
    hasWorked = !isIdle;
    // What collecting takes is no work.
    since = process.cpuUsage();
  };
  const timer = setInterval(look, lookEveryMs).unref();
  return () => {
    clearTimeout(preparing);
    clearInterval(timer);
  };
}

/**
 * Collects what JavaScript no longer uses, and then gives back what that and others have freed. The runtime hides the first
 * from programs that were not started for tests; for a moment it does not.
 */
function openCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how: object) => void;
  setFlagsFromString('--no-expose-gc');
  const memory = openSystemMemory();
  let isFirst = true;
  return () => {
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    memory?.trim();
    // Later the pages that are there are those of the work, which may go on.
    if (isFirst) memory?.dropProgramPages();
    isFirst = false;
  };
}
