export const networkOutcomes = ['connected', 'refused', 'unreachable', 'limited'] as const;
export type NetworkOutcome = (typeof networkOutcomes)[number];

/** A request for a connection through the gate, and its outcome. */
export interface NetworkEvent {
  readonly outcome: NetworkOutcome;
  /** `host:port`; for `limited`, which limit. Empty: destinations beyond those that are told apart. */
  readonly target: string;
  readonly times: number;
}

/** Of each outcome, so that many refusals do not push out the connections that were made. */
const mostTargets = 50;

/**
 * Which destinations were requested, how often, and with which outcome. Destinations beyond the bound are only counted.
 */
export class NetworkLog {
  readonly #targets = new Map<NetworkOutcome, Map<string, number>>();
  readonly #beyond = new Map<NetworkOutcome, number>();

  add(...events: readonly NetworkEvent[]): void {
    for (const { outcome, target, times } of events) {
      const known = this.#targets.get(outcome) ?? new Map<string, number>();
      this.#targets.set(outcome, known);
      if (target !== '' && (known.has(target) || known.size < mostTargets)) {
        known.set(target, (known.get(target) ?? 0) + times);
      } else {
        this.#beyond.set(outcome, (this.#beyond.get(outcome) ?? 0) + times);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#targets.size === 0 && this.#beyond.size === 0;
  }

  /** Those that are told apart, by outcome. */
  get entries(): readonly NetworkEvent[] {
    return networkOutcomes.flatMap((outcome) =>
      [...(this.#targets.get(outcome) ?? [])].map(([target, times]) => ({ outcome, target, times })),
    );
  }

  /** How many more there were, by outcome. */
  get beyond(): Readonly<Partial<Record<NetworkOutcome, number>>> {
    return Object.fromEntries(this.#beyond);
  }

  /** All of it, so that another log that adds it holds the same. */
  get events(): readonly NetworkEvent[] {
    return [...this.entries, ...[...this.#beyond].map(([outcome, times]) => ({ outcome, target: '', times }))];
  }

  targetsOf(outcome: NetworkOutcome): readonly string[] {
    return [...(this.#targets.get(outcome)?.keys() ?? [])];
  }
}
