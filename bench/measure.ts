/** One budget: what is measured, against which floor, and where the bar is. */
export interface Budget {
  readonly name: string;
  readonly bar: string;
  /** Measures floor and subject once, close together in time, so that a noisy machine disturbs both alike. */
  readonly round: (seconds: number) => Promise<Round>;
  /** Prepares what the rounds use. Returns how to take it down. */
  readonly setUp: () => Promise<() => Promise<void>>;
  /** Whether the medians meet the bar. */
  readonly meets: (ratio: number, medians: { readonly floor: number; readonly subject: number }) => boolean;
}

export interface Round {
  readonly floor: number;
  readonly subject: number;
  readonly unit: string;
  /** Further figures of the same round, for the reader. */
  readonly details: Readonly<Record<string, number>>;
}

export interface Measured {
  readonly name: string;
  readonly bar: string;
  readonly unit: string;
  readonly floor: number;
  readonly subject: number;
  /** Median of subject / floor over the rounds. */
  readonly ratio: number;
  readonly lowestRatio: number;
  readonly highestRatio: number;
  readonly rounds: number;
  readonly details: Readonly<Record<string, number>>;
  readonly meetsBar: boolean;
}

export async function measure(budget: Budget, options: { rounds: number; seconds: number }): Promise<Measured> {
  const tearDown = await budget.setUp();
  try {
    await budget.round(Math.min(1, options.seconds));
    const rounds: Round[] = [];
    for (let n = 0; n < options.rounds; n++) rounds.push(await budget.round(options.seconds));
    const ratios = rounds.map((round) => round.subject / round.floor).sort((a, b) => a - b);
    const ratio = median(ratios);
    const details = Object.fromEntries(
      Object.keys(rounds[0]?.details ?? {}).map((key) => [
        key,
        median(rounds.map((round) => round.details[key] ?? NaN)),
      ]),
    );
    const floor = median(rounds.map((round) => round.floor));
    const subject = median(rounds.map((round) => round.subject));
    return {
      name: budget.name,
      bar: budget.bar,
      unit: rounds[0]?.unit ?? '',
      floor,
      subject,
      ratio,
      lowestRatio: ratios[0] ?? NaN,
      highestRatio: ratios.at(-1) ?? NaN,
      rounds: rounds.length,
      details,
      meetsBar: budget.meets(ratio, { floor, subject }),
    };
  } finally {
    await tearDown();
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)] ?? NaN;
  return ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}
