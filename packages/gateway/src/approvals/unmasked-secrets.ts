import type { Session } from '../call/session.ts';
import type { ApprovalWatch, PlanWatch } from './approval-watch.ts';

interface Kept {
  readonly values: readonly string[];
  readonly untilMs: number;
  readonly characters: number;
  /** By person or agent: the places of the values that they have looked at. */
  readonly shown: Map<string, Set<number>>;
}

const mostCharacters = 64 * 1024 * 1024;
const dropEveryMs = 1000;
export const mostOfOne = 16 * 1024 * 1024;

/**
 * What was masked, or was too long for a card, in requests that wait, so that those who decide can look, and who of them
 * did. In memory only, bounded, and no longer than the request itself waits: nothing to steal from a disk. After a
 * restart nothing is left, and the agent has to ask again.
 */
export class UnmaskedSecrets {
  readonly #kept = new Map<string, Kept>();
  #characters = 0;
  #dropAtMs = 0;

  /** Forgets what belongs to a request as soon as it does not wait any more. */
  constructor(watch: ApprovalWatch, plans: PlanWatch) {
    watch.listen(({ kind, task }) => {
      if (kind === 'decided' || kind === 'expired') this.forget(task.id);
    });
    plans.listen(({ kind, plan }) => {
      if (kind !== 'pending') plan.steps.forEach((_, at) => this.forget(stepSubject(plan.id, at)));
    });
  }

  /** Whether so many characters could be kept now, in the place of what is kept of the subject, if that is given. */
  hasRoom(characters: number, subject = ''): boolean {
    const fits = (): boolean => {
      const others = this.#characters - (this.#kept.get(subject)?.characters ?? 0);
      return characters <= mostOfOne && others + characters <= mostCharacters;
    };
    const nowMs = Date.now();
    // Thousands may wait: not all of them are looked at for every new one.
    if (nowMs >= this.#dropAtMs || !fits()) this.#dropOld(nowMs);
    return fits();
  }

  /** `subject` names the request: the id of a task, or a step of a plan. What would be too much is not kept. */
  keep(subject: string, values: readonly string[], untilMs: number): void {
    const before = this.#kept.get(subject);
    this.forget(subject);
    const characters = countCharacters(values);
    if (values.length === 0 || !this.hasRoom(characters)) return;
    // Who has looked at these very values need not look again because they were sent once more.
    const isSame = before?.values.length === values.length && before.values.every((value, at) => value === values[at]);
    const shown = isSame ? before.shown : new Map<string, Set<number>>();
    this.#kept.set(subject, { values, untilMs, characters, shown });
    this.#characters += characters;
  }

  /** In the order of the marks. Undefined: nothing is kept any more. */
  find(subject: string): readonly string[] | undefined {
    const kept = this.#kept.get(subject);
    return kept !== undefined && kept.untilMs > Date.now() ? kept.values : undefined;
  }

  /** Notes that somebody has been shown a value, by its place among the marks. */
  noteShown(subject: string, at: number, to: Session): void {
    const kept = this.#kept.get(subject);
    const shown = kept?.shown.get(whoOf(to)) ?? new Set();
    kept?.shown.set(whoOf(to), shown.add(at));
  }

  wasShown(subject: string, at: number, to: Session): boolean {
    return this.#kept.get(subject)?.shown.get(whoOf(to))?.has(at) ?? false;
  }

  forget(subject: string): void {
    const kept = this.#kept.get(subject);
    if (kept === undefined) return;
    this.#kept.delete(subject);
    this.#characters -= kept.characters;
  }

  #dropOld(nowMs: number): void {
    this.#dropAtMs = nowMs + dropEveryMs;
    for (const [subject, { untilMs }] of this.#kept) if (untilMs <= nowMs) this.forget(subject);
  }
}

export function stepSubject(planId: string, step: number): string {
  return `${planId}/${step}`;
}

export function countCharacters(values: readonly string[]): number {
  return values.reduce((sum, { length }) => sum + length, 0);
}

/** People have several sessions, such as one for the terminal and one for the console. */
function whoOf({ principal, agent }: Session): string {
  return `${principal} ${agent}`;
}
