import { ProgramNotStarted } from '../model/program.ts';
import type { Program } from '../model/program.ts';
import type { Launch } from '../sandbox/launch.ts';
import { MountGate } from '../sandbox/mount-gate.ts';
import { planLaunch } from '../sandbox/plan-launch.ts';
import type { SandboxProbe } from '../sandbox/probe-sandbox.ts';
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

  /** May wait for other programs to end; undefined when the signal aborts meanwhile. Throws ProgramNotStarted. */
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
      // What was checked before the wait may be something else by now.
      return { launch: planLaunch(program, machine), leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #enter(claims: NonNullable<Launch['claims']>, signal: AbortSignal): Promise<(() => void) | undefined> {
    try {
      return await this.#gate.enter(claims, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }
}
