import type { LeavingsJudge, SweepCaller } from '../../call/sweep.ts';
import { loneWorkspace } from '../../call/workspace.ts';
import { filesWrite } from '../../catalogue/files/files-write.ts';
import { judgeLeavings } from '../../policy/judge/leavings.ts';
import { finishSweeps } from '../../programs/leavings/finish-sweeps.ts';
import { Sweeps } from '../../programs/leavings/sweeps.ts';
import type { Executor } from './open-executor.ts';
import type { Ground } from './open-ground.ts';

/** What programs leave behind in folders that they may change. */
export interface Leavings {
  readonly sweeps: Sweeps;
  readonly judge: (caller: SweepCaller) => LeavingsJudge;
  /** Sets aside what programs of a daemon before this one left. */
  readonly finish: () => Promise<void>;
}

/** Puts together what concerns leavings. */
export function openLeavings(ground: Ground, executor: Executor): Leavings {
  const { home, stateSecret, store, redactor, log, rulesFor, currentRules, workspace } = ground;
  const sweeps = new Sweeps({ folder: home.sweepsFolder, key: stateSecret });
  const judge = ({ ...caller }: SweepCaller): LeavingsJudge => {
    // Programs may have worked in a folder that has been removed since.
    const rules = rulesFor(caller) ?? currentRules().within(loneWorkspace(caller.workspace ?? workspace));
    const write = rules.judgePaths({ ...caller, tool: filesWrite.definition, consented: false });
    return judgeLeavings({ write, caller });
  };
  return {
    sweeps,
    judge,
    finish: () =>
      finishSweeps(sweeps, {
        judge,
        // The spawner first ends the programs of an earlier daemon that still run.
        ready: () => executor.programs.abilities,
        report: (event, facts) => {
          log.warn(event, facts);
          const payload = redactor.redactEvent({ event, ...facts });
          return store.append({ kind: 'event', result: 'none', timeMs: Date.now(), payload });
        },
        onError: (error) => log.error('sweep_failed', { error }),
      }),
  };
}
