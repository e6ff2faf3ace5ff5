import type { NetworkEvent } from '@sallyport/sandbox';
import type { Withheld } from '../programs/leavings/set-aside-forbidden.ts';
import type { ToolUsage } from '../call/tool.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** Is told what the server does while the call runs, also for other calls that run there at that time. */
export interface Onlooker {
  readonly onNetwork: (events: readonly NetworkEvent[]) => void;
  readonly onWithheld: (withheld: Withheld) => void;
}

/** Gets the CPU time that the server used for the call, if no other call ran there meanwhile. */
export type OnUsage = (usage: Pick<ToolUsage, 'measuredBy' | 'cpuMs'>) => void;

/** Resolves when everything of this turn has run that waits for nothing. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** The calls that run at one server. */
export class RunningCalls {
  readonly #onlookers = new Set<Onlooker>();
  /** Counts calls, so that one can tell whether another ran meanwhile. */
  #begun = 0;
  #open = 0;

  /** With several calls, the gate cannot tell which one the server works for. */
  get areSeveral(): boolean {
    return this.#open > 1;
  }

  begin(onlooker: Onlooker): void {
    this.#onlookers.add(onlooker);
    this.#open += 1;
    this.#begun += 1;
  }

  /** The server has answered. The call is still told what the server did until `leave`. */
  end(): void {
    this.#open -= 1;
  }

  leave(onlooker: Onlooker): void {
    this.#onlookers.delete(onlooker);
  }

  /** A server does not say for which call it connects, so the record of each running call has it. False: none runs. */
  noteNetwork(events: readonly NetworkEvent[]): boolean {
    for (const { onNetwork } of this.#onlookers) onNetwork(events);
    return this.#onlookers.size > 0;
  }

  /** A server does not say for which call it wrote a file, so each running call gets a warning. */
  noteWithheld(withheld: Withheld): void {
    for (const { onWithheld } of this.#onlookers) onWithheld(withheld);
  }

  /** Measures from now until the function is called. Undefined: the server cannot be measured. */
  async meter(connection: UpstreamConnection): Promise<((onUsage: OnUsage) => Promise<void>) | undefined> {
    const begun = this.#begun;
    // Calls that are admitted together begin in the same turn. Then there is nothing to measure.
    await endOfTurn();
    if (this.#begun !== begun) return undefined;
    const before = (await connection.measure()).cpuMs;
    if (before === undefined) return undefined;
    return async (onUsage) => {
      if (this.#begun !== begun) return;
      const { measuredBy, cpuMs } = await connection.measure();
      const isAlone = this.#begun === begun;
      if (!isAlone || measuredBy === undefined || cpuMs === undefined) return;
      // Both are in whole microseconds; their difference as a number is not.
      onUsage({ measuredBy, cpuMs: Math.round((cpuMs - before) * 1000) / 1000 });
    };
  }
}
