import type { Json } from '@sallyport/contract';

/** Checking the value would take longer than it may hold up everyone else. */
export class TooMuchWork extends Error {
  constructor() {
    super('too much work');
    this.name = 'TooMuchWork';
  }
}

const baseWork = 200_000;
const workPerValue = 50;
/** Characters that cost as much as one value. */
const charactersPerUnit = 64;
const patternStepsPerUnit = 256;

/**
 * Counts what checking one value costs, whatever the schema makes of it: branches within branches multiply, and a
 * schema of a few lines can ask for more steps than there is time.
 */
export class WorkMeter {
  #left = 0;

  /** Starts over, for a value of this size. */
  begin(valueCount: number): void {
    this.#left = baseWork + workPerValue * valueCount;
  }

  /** One look of a schema at a value: the schema costs `weight` for the value and each of its direct members. */
  chargeLook(weight: number, value: Json): void {
    this.#charge(weight * (1 + sizeOf(value)));
  }

  chargePattern(size: number, text: string): void {
    this.#charge((size * text.length) / patternStepsPerUnit);
  }

  chargeText(length: number): void {
    this.#charge(length / charactersPerUnit);
  }

  #charge(work: number): void {
    this.#left -= work;
    if (this.#left < 0) throw new TooMuchWork();
  }
}

function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length / charactersPerUnit;
  if (typeof value !== 'object' || value === null) return 0;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}
