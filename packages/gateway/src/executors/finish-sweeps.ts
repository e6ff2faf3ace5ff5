import type { JsonObject } from '@sallyport/contract';
import type { LeavingsJudge, SweepCaller } from '../model/sweep.ts';
import { setAsideForbidden } from './set-aside-forbidden.ts';
import type { Sweeps } from './sweeps.ts';

export interface FinishParts {
  readonly judge: (caller: SweepCaller) => LeavingsJudge;
  /** Resolves when no program of a daemon before this one runs any more. */
  readonly ready: () => Promise<unknown>;
  /** Something was set aside, or could not be. */
  readonly report: (what: JsonObject) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** Sets aside what programs left when the daemon before this one was killed. One that fails is tried at the next start. */
export async function finishSweeps(sweeps: Sweeps, { judge, ready, report, onError }: FinishParts): Promise<void> {
  const unfinished = await sweeps.listUnfinished();
  if (unfinished.length > 0) await ready();
  for (const { note, entry, endedByMs } of unfinished) {
    const { roots, links, isForeseen } = note;
    let isDone = false;
    try {
      const leavings = judge(note.caller);
      const { paths, count, stuck } = await setAsideForbidden({ roots, links, endedByMs }, 0, {
        isForbidden: (path, root) => leavings.judge(path, root, { isForeseen }) !== undefined,
        entry,
        mark: 'restart',
      });
      if (count + stuck.length > 0) {
        await report({ event: 'set_aside_after_crash', count, set_aside: [...paths], left: [...stuck] });
      }
      isDone = stuck.length === 0;
    } catch (error) {
      onError(error);
    }
    await entry.leave(isDone ? 'finished' : 'unfinished');
  }
}
