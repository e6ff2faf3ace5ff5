import { refuse } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { Budget, Session, Spending } from '../../call/session.ts';
import type { ModelPrice } from '../providers/provider-settings.ts';

export interface TokenUse {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a call uses of a budget. */
export type ModelSpending = Pick<Spending, 'tokens' | 'costMicros'>;

/** Undefined: the price of the model is not known. */
export function costMicrosOf(
  { inputTokens, outputTokens }: TokenUse,
  price: ModelPrice | undefined,
): number | undefined {
  // A price is for a million tokens and a cost in millionths: one cancels out the other.
  return price && Math.ceil(inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion);
}

/**
 * What running calls of each session may still use. A call is let through when the most it can use fits into what is left
 * beside the others: a budget that is looked at only afterwards is no limit.
 */
export class SpendingHolds {
  readonly #held = new Map<string, ModelSpending>();

  /** A refusal, or what gives the hold back. */
  take(session: Session, most: TokenUse, price: ModelPrice | undefined): Refusal | (() => void) {
    const refusal = this.check(session, most, price);
    if (refusal !== undefined) return refusal;
    const { id } = session;
    const wanted = spendingOf(most, price);
    const held = this.#heldBy(id);
    this.#held.set(id, { tokens: held.tokens + wanted.tokens, costMicros: held.costMicros + wanted.costMicros });
    return () => this.#giveBack(id, wanted);
  }

  /** Why the call would be refused now. Undefined: it would not be. Holds nothing. */
  check(session: Session, most: TokenUse, price: ModelPrice | undefined): Refusal | undefined {
    const { id, lease } = session;
    const budgets = [
      ['session', session.budget, session.spent],
      ['lease', lease.budget, lease.spent],
    ] as const;
    if (price === undefined && budgets.some(([, budget]) => budget.costMicros !== undefined)) {
      return refuse(
        'LIMIT_UNENFORCEABLE',
        'budget',
        'The session has a limit of cost, and the price of this model is not known.',
        {
          remedy: 'Use another model.',
          forOperators: 'Write the prices of the model into providers.yaml: input_per_million and output_per_million.',
        },
      );
    }
    for (const [of, budget, spent] of budgets) {
      const over = findOver(budget, spent, this.#heldBy(id), spendingOf(most, price));
      if (over !== undefined) return tooMuch(of, over);
    }
    return undefined;
  }

  #heldBy(id: string): ModelSpending {
    return this.#held.get(id) ?? { tokens: 0, costMicros: 0 };
  }

  #giveBack(id: string, wanted: ModelSpending): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    const left = { tokens: held.tokens - wanted.tokens, costMicros: held.costMicros - wanted.costMicros };
    if (left.tokens <= 0 && left.costMicros <= 0) this.#held.delete(id);
    else this.#held.set(id, left);
  }
}

function spendingOf(most: TokenUse, price: ModelPrice | undefined): ModelSpending {
  return { tokens: most.inputTokens + most.outputTokens, costMicros: costMicrosOf(most, price) ?? 0 };
}

interface Over {
  readonly kind: keyof ModelSpending;
  readonly wanted: number;
  readonly left: number;
}

function findOver(budget: Budget, spent: Spending, held: ModelSpending, wanted: ModelSpending): Over | undefined {
  for (const kind of ['tokens', 'costMicros'] as const) {
    const left = (budget[kind] ?? Infinity) - spent[kind] - held[kind];
    if (wanted[kind] > left) return { kind, wanted: wanted[kind], left: Math.max(0, left) };
  }
  return undefined;
}

function tooMuch(of: 'session' | 'lease', { kind, wanted, left }: Over): Refusal {
  const spell = (amount: number): string => (kind === 'tokens' ? `${amount} tokens` : `${amount / 1e6} in cost`);
  const message = `The call could use up to ${spell(wanted)}, and ${spell(left)} are left in the budget of the ${of}.`;
  return refuse('BUDGET_EXCEEDED', 'budget', message, {
    remedy: 'Ask for fewer max_tokens, or send a shorter prompt.',
    forOperators:
      of === 'session'
        ? '`sallyport session create` makes a session with a larger budget.'
        : '`sallyport lease grant` gives the session a lease with a larger budget.',
  });
}
