/** One budget: what is measured, against which floor, and where the bar is. */
export interface Budget {
  readonly name: string;
  readonly bar: string;
  /** Measures floor and subject once, close together in time, so that a noisy machine disturbs both alike. */
  readonly round: (seconds: number) => Promise<Round>;
  /** Absent: a second. Where a shorter round is enough, the two alternate faster, in as many more rounds. */
  readonly roundSeconds?: number;
  /** Prepares what the rounds use. Returns how to take it down. */
  readonly setUp: () => Promise<() => Promise<void>>;
  /** Measured in a process of its own. To fork takes longer the larger a process is, and here the floor is a fork. */
  readonly isAlone?: true;
  /** Whether the figures meet the bar. */
  readonly meets: (ratio: number, figures: { readonly floor: number; readonly subject: number }) => boolean;
}

export interface Round {
  readonly floor: number;
  readonly subject: number;
  /** Of floor and subject. More is better where it is a rate, such as `calls/s`; otherwise less is. */
  readonly unit: string;
  /** Processor time of one call through each, in microseconds. Absent: not measured. */
  readonly cpu?: { readonly floor: number; readonly subject: number };
  /** Further figures of the same round, for the reader. A rate has `/s` in its name. */
  readonly details: Readonly<Record<string, number>>;
}

export interface Measured {
  readonly name: string;
  readonly bar: string;
  readonly unit: string;
  readonly floor: number;
  readonly subject: number;
  readonly ratio: number;
  /** Of single rounds: how noisy it was. */
  readonly lowestRatio: number;
  readonly highestRatio: number;
  /** Processor time of a call as a multiple of the floor's. Absent: not measured. */
  readonly cpuRatio?: number;
  readonly rounds: number;
  readonly details: Readonly<Record<string, number>>;
  readonly meetsBar: boolean;
}

/** Rounds in turn, after one that warms up; each figure is that of the rounds that were disturbed least. */
export async function measure(budget: Budget, options: { readonly seconds: number }): Promise<Measured> {
  const { roundSeconds = 1 } = budget;
  const tearDown = await budget.setUp();
  try {
    await budget.round(roundSeconds);
    const rounds: Round[] = [];
    while (rounds.length < options.seconds / roundSeconds) rounds.push(await budget.round(roundSeconds));
    return summarize(budget, rounds);
  } finally {
    await tearDown();
  }
}

function summarize(budget: Budget, rounds: readonly Round[]): Measured {
  const { unit = '', details = {} } = rounds[0] ?? {};
  const of = (name: string, read: (round: Round) => number | undefined): number =>
    leastDisturbed(
      name,
      rounds.map((round) => read(round) ?? NaN),
    );
  const floor = of(unit, (round) => round.floor);
  const subject = of(unit, (round) => round.subject);
  const ratio = subject / floor;
  const ratios = rounds.map((round) => round.subject / round.floor);
  return {
    name: budget.name,
    bar: budget.bar,
    unit,
    floor,
    subject,
    ratio,
    lowestRatio: Math.min(...ratios),
    highestRatio: Math.max(...ratios),
    ...(rounds[0]?.cpu && { cpuRatio: of('µs', ({ cpu }) => cpu?.subject) / of('µs', ({ cpu }) => cpu?.floor) }),
    rounds: rounds.length,
    details: Object.fromEntries(Object.keys(details).map((key) => [key, of(key, (round) => round.details[key])])),
    meetsBar: budget.meets(ratio, { floor, subject }),
  };
}

/**
 * The better quartile: the lower one of what something costs, the upper one of a rate. Others on the machine can only
 * make a figure worse, and the very best may be luck.
 */
export function leastDisturbed(name: string, values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const quarter = Math.floor((sorted.length - 1) / 4);
  return (isRate(name) ? sorted.at(-1 - quarter) : sorted[quarter]) ?? NaN;
}

export function isRate(unit: string): boolean {
  return /\/s\b/.test(unit);
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? NaN;
}
