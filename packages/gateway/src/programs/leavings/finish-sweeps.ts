import type { JsonObject } from '@sallyport/contract';
import type { LeavingsJudge, SweepCaller } from '../../call/sweep.ts';
import { setAsideForbidden } from './set-aside-forbidden.ts';
import type { Sweeps, UnfinishedSweep } from './sweeps.ts';

export interface FinishParts {
  readonly judge: (caller: SweepCaller) => LeavingsJudge;
  /** Resolves when no program of a daemon before this one runs any more. */
  readonly ready: () => Promise<unknown>;
  /** Something was set aside, or could not be, or a note is not one of this gate. */
  readonly report: (event: string, facts: JsonObject) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

const rejectedAdvice =
  'Nothing was renamed because of it. If a daemon was killed lately, look for files that programs left in folders which they ' +
  'may change, such as .mcp.json, .envrc or .git. Then remove the note.';

/**
 * Sets aside what programs left when the daemon before this one was killed. One that fails is tried at the next start.
 * Never throws: nothing in the folder of the notes may keep the gate from starting.
 */
export async function finishSweeps(sweeps: Sweeps, parts: FinishParts): Promise<void> {
  const { ready, report, onError } = parts;
  try {
    const { unfinished, rejected } = await sweeps.listUnfinished();
    for (const { name, reason, keptAs = name } of rejected) {
      const facts = { note: name, reason, kept_as: keptAs, advice: rejectedAdvice };
      await report('sweep_note_rejected', facts).catch(onError);
    }
    if (unfinished.length > 0) await ready();
    for (const each of unfinished) await finishSweep(each, parts);
  } catch (error) {
    onError(error);
  }
}

async function finishSweep(
  { note, entry, endedByMs }: UnfinishedSweep,
  { judge, report, onError }: FinishParts,
): Promise<void> {
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
      await report('set_aside_after_crash', { count, set_aside: [...paths], left: [...stuck] });
    }
    isDone = stuck.length === 0;
  } catch (error) {
    onError(error);
  }
  await entry.leave(isDone ? 'finished' : 'unfinished');
}
