import type { Question, Verdict } from '../model/verdict.ts';
import { explainConfirmation } from './confirmation-baseline.ts';
import { endedByPeople } from './mode-policy.ts';
import type { Asked } from './rule-index.ts';
import { builtInRules } from './rule-judge.ts';

/** What leads out of a mode, and shows which one it is. */
const exits: readonly string[] = ['mode.set', 'mode.show'];

/** Whether the call is one by which a person leaves a mode that only people end. */
export function isExit({ tool, principal, mode }: Asked): boolean {
  return (
    principal === 'operator' && tool.origin === undefined && endedByPeople.includes(mode) && exits.includes(tool.name)
  );
}

/**
 * Only people end LOCKDOWN and RECOVERY, so rules that forgot to let them, or close everything, cannot keep them in.
 * Whoever leaves without a rule is asked whether they mean it.
 */
export function keepExitOpen(judge: (question: Question) => Verdict): (question: Question) => Verdict {
  return (question) => {
    const verdict = judge(question);
    if (verdict.effect !== 'deny' || !isExit(question)) return verdict;
    const why = 'No rule lets an operator change the mode, and only people end this one.';
    const confirmation = explainConfirmation(question.tool);
    return {
      effect: confirmation === undefined ? 'allow' : 'require_approval',
      rule: { id: builtInRules.exit },
      reason: confirmation === undefined ? why : `${why} ${confirmation}`,
    };
  };
}
