import type { ToolDefinition } from '../call/tool.ts';
import type { AnomalyPolicy } from '../call/verdict.ts';
import { namesTool } from '../policy/patterns/name-pattern.ts';
import type { CallFact } from './call-fact.ts';

type Combination = AnomalyPolicy['combinations'][number];

/** A combination with a bit for each of its tools. */
export interface MaskedCombination extends Combination {
  readonly mask: number;
}

/** Which tools of which combinations a call is: a bit each, so that an agent's last calls are a few numbers. */
export class CombinationMasks {
  readonly combinations: readonly MaskedCombination[];
  readonly #slots: readonly (readonly string[])[];
  readonly #known = new WeakMap<ToolDefinition, number>();

  constructor(combinations: readonly Combination[]) {
    this.#slots = combinations.flatMap(({ tools }) => tools);
    let bit = 0;
    this.combinations = combinations.map((combination) => {
      const mask = combination.tools.reduce((sum) => sum | (1 << bit++), 0);
      return { ...combination, mask };
    });
  }

  /** Names that callers made up are compared each time, so that nothing is kept of them. */
  of({ definition, tool }: Pick<CallFact, 'definition' | 'tool'>): number {
    if (definition === undefined) return this.#compare({ name: tool });
    const known = this.#known.get(definition) ?? this.#compare(definition);
    this.#known.set(definition, known);
    return known;
  }

  #compare(tool: Parameters<typeof namesTool>[1]): number {
    return this.#slots.reduce((mask, patterns, slot) => (namesTool(patterns, tool) ? mask | (1 << slot) : mask), 0);
  }
}
