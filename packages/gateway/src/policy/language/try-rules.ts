import type { Question, Rules, Verdict } from '../../call/verdict.ts';

type Judge = Rules['judge'];

/**
 * Judges by the rules in force, and says what all rules together would say, shadow rules included:
 * when that is something else, or for another reason.
 */
export function tryRules(inForce: Judge, all: Judge): Judge {
  return (question: Question): Verdict => {
    const verdict = inForce(question);
    const { effect, rule, reason } = all(question);
    if (effect === verdict.effect && rule.id === verdict.rule.id) return verdict;
    return { ...verdict, shadow: { effect, rule, reason } };
  };
}
