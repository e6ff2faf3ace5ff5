import { edges, endedByPeople } from '../policy/judge/mode-policy.ts';
import type { Redacted } from '../call/redacted.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Mode } from '../call/session.ts';
import type { ModeChange, ModeRepository, Snapshot } from '../storage/stores.ts';

export interface ModeWish {
  readonly to: Mode;
  /** The person who wants it. Absent: the gate itself, because of what it measured. */
  readonly by?: string;
  readonly cause: Redacted;
}

/** Called with a change after it is durable and before anything else happens in the new mode. */
export type ModeListener = (change: ModeChange) => void;

export type ModeStore = ModeRepository & Pick<Snapshot, 'readMode'>;

/** The one place where the mode changes. A change is durable, with its cause in the log, before it holds. */
export class ModeAuthority {
  readonly #log: ModeStore;
  readonly #nowMs: () => number;
  readonly #listeners: ModeListener[] = [];

  constructor(log: ModeStore, nowMs: () => number = Date.now) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  current(): Mode {
    return this.#log.readMode();
  }

  /** Newest first. */
  history(limit: number): Promise<readonly ModeChange[]> {
    return this.#log.listModeChanges(limit);
  }

  onChange(listener: ModeListener): void {
    this.#listeners.push(listener);
  }

  /** The change that was made, or why none was. A mode that somebody else changes meanwhile is left alone. */
  async change({ to, by, cause }: ModeWish): Promise<ModeChange | Refusal> {
    const from = this.current();
    const obstacle = explainForbidden(from, to, by);
    if (obstacle !== undefined) return obstacle;
    const change: ModeChange = { from, to, ...(by === undefined ? {} : { by }), cause, atMs: this.#nowMs() };
    if (!(await this.#log.changeMode(change))) {
      return refuse('STANDING_CHANGED', 'mode-edges', `The mode is not ${from} any more.`, {
        forOperators: 'Look at it with `sallyport mode show` and decide again.',
      });
    }
    for (const listener of this.#listeners) listener(change);
    return change;
  }
}

function explainForbidden(from: Mode, to: Mode, by: string | undefined): Refusal | undefined {
  if (from === to) return refuse('MODE_FORBIDS', 'mode-edges', `The mode is ${to} already.`);
  if (!edges[from].includes(to)) {
    const ways = edges[from].join(' or ');
    return refuse('MODE_FORBIDS', 'mode-edges', `The mode cannot change from ${from} to ${to}.`, {
      remedy: `From ${from} it can change to ${ways}.`,
    });
  }
  if (by === undefined && endedByPeople.includes(from)) {
    return refuse('MODE_FORBIDS', 'mode-edges', `Only a person ends ${from}.`);
  }
  return undefined;
}
