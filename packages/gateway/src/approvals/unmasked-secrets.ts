import type { ApprovalWatch, PlanWatch } from './approval-watch.ts';

interface Kept {
  readonly values: readonly string[];
  readonly untilMs: number;
  readonly characters: number;
}

const mostCharacters = 16 * 1024 * 1024;
const mostOfOne = 256 * 1024;

/**
 * What was masked in requests that wait, so that whoever decides can look. In memory only, bounded, and no longer than
 * the request itself waits: nothing to steal from a disk, and nothing left after a restart, which loses no more than the
 * chance to look.
 */
export class UnmaskedSecrets {
  readonly #kept = new Map<string, Kept>();
  #characters = 0;

  /** Forgets what belongs to a request as soon as it does not wait any more. */
  constructor(watch: ApprovalWatch, plans: PlanWatch) {
    watch.listen(({ kind, task }) => {
      if (kind === 'decided' || kind === 'expired') this.forget(task.id);
    });
    plans.listen(({ kind, plan }) => {
      if (kind !== 'pending') plan.steps.forEach((_, at) => this.forget(stepSubject(plan.id, at)));
    });
  }

  /** `subject` names the request: the id of a task, or a step of a plan. What would be too much is not kept. */
  keep(subject: string, values: readonly string[], untilMs: number): void {
    this.forget(subject);
    if (values.length === 0) return;
    const characters = values.reduce((sum, { length }) => sum + length, 0);
    this.#dropOld(Date.now());
    if (characters > mostOfOne || this.#characters + characters > mostCharacters) return;
    this.#kept.set(subject, { values, untilMs, characters });
    this.#characters += characters;
  }

  /** In the order of the marks. Undefined: nothing is kept any more. */
  find(subject: string): readonly string[] | undefined {
    const kept = this.#kept.get(subject);
    return kept !== undefined && kept.untilMs > Date.now() ? kept.values : undefined;
  }

  forget(subject: string): void {
    const kept = this.#kept.get(subject);
    if (kept === undefined) return;
    this.#kept.delete(subject);
    this.#characters -= kept.characters;
  }

  #dropOld(nowMs: number): void {
    for (const [subject, { untilMs }] of this.#kept) if (untilMs <= nowMs) this.forget(subject);
  }
}

export function stepSubject(planId: string, step: number): string {
  return `${planId}/${step}`;
}
