import { ProgramNotStarted } from '../program.ts';
import type { Program } from '../program.ts';
import type { Launch } from '../launch/launch.ts';
import { MountGate, MountsBusy } from '../launch/mount-gate.ts';
import { planLaunch } from '../launch/plan-launch.ts';
import type { SandboxProbe } from '../launch/probe-sandbox.ts';
import { planPlainly } from './plan-plainly.ts';

export interface PlannedLaunch {
  readonly launch: Launch;
  /** To be called when the program has ended, or will not start. */
  readonly leave: () => void;
}

/** Plans launches so that no two programs that run at once can disturb each other's mounts. */
export class LaunchPlanner {
  readonly #sandbox: SandboxProbe;
  readonly #gate = new MountGate();

  constructor(sandbox: SandboxProbe) {
    this.#sandbox = sandbox;
  }

  /**
   * May wait for other programs to end. Throws ProgramNotStarted, also when the signal aborts while it waits; undefined
   * when that had happened before.
   */
  async plan(program: Program, signal: AbortSignal): Promise<PlannedLaunch | undefined> {
    if (program.isolation === 'none') return { launch: planPlainly(program), leave: () => undefined };
    if (!this.#sandbox.usable) {
      const { reason, remedy } = this.#sandbox;
      throw new ProgramNotStarted('SANDBOX_UNAVAILABLE', `There is no sandbox for programs here: ${reason}`, {
        remedy: `${remedy} Then start the daemon again.`,
      });
    }
    const { machine } = this.#sandbox;
    const first = planLaunch(program, machine);
    const { claims } = first;
    if (claims === undefined || claims.writes.length + claims.holds.length + claims.misses.length === 0) {
      return { launch: first, leave: () => undefined };
    }
    const leave = await this.#enter(claims, signal);
    if (leave === undefined) return undefined;
    try {
      // What was checked before the wait may have changed.
      const launch = planLaunch(program, machine);
      refuseMissing(launch);
      return { launch, leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #enter(claims: NonNullable<Launch['claims']>, signal: AbortSignal): Promise<(() => void) | undefined> {
    try {
      return await this.#gate.enter(claims, signal);
    } catch (error) {
      if (error instanceof MountsBusy) throw keptWaiting(error);
      if (signal.aborted) return undefined;
      throw error;
    }
  }
}

function keptWaiting(cause: MountsBusy): ProgramNotStarted {
  const message =
    'Another program that may change the same folder is running, and the wait for it to end was given up. ' +
    'The program was not started.';
  return new ProgramNotStarted('FOLDER_BUSY', message, { cause, isTransient: true });
}

/**
 * A path that was to be closed and is gone could be made by the program, and would then count as something that was
 * there before.
 */
function refuseMissing({ claims }: Launch): void {
  const [missing] = claims?.misses ?? [];
  if (missing === undefined || claims?.writes.length === 0) return;
  const message = `${missing} was to be kept from the program, and vanished while its sandbox was being built.`;
  throw new ProgramNotStarted('EXECUTION_ERROR', message, { remedy: 'Send the call again.' });
}
