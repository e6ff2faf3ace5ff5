import { firstOperator } from '../../call/session.ts';
import type { Question, Verdict } from '../../call/verdict.ts';
import { explainConfirmation } from './confirmation-baseline.ts';
import { endedByPeople } from '../judge/mode-policy.ts';
import type { Asked } from '../judge/rule-index.ts';
import { builtInRules } from '../judge/rule-judge.ts';

/** What leads out of a mode, and shows which one it is. */
const modeExits: readonly string[] = ['mode.set', 'mode.show'];

/** What puts other rules in force, and shows what they would change. */
export const ruleExits: readonly string[] = [
  'policy.apply',
  'policy.status',
  'policy.check',
  'policy.explain',
  'policy.replay',
];

/** Whether no rule may close the call: a person leaves a mode that only people end, or the owner mends the rules. */
export function isExit({ tool, principal, agent, mode }: Asked): boolean {
  if (principal !== 'operator' || tool.origin !== undefined) return false;
  if (ruleExits.includes(tool.name)) return agent === firstOperator;
  return endedByPeople.includes(mode) && modeExits.includes(tool.name);
}

/**
 * Only people end LOCKDOWN and RECOVERY, and only people change the rules, so rules that close everything cannot keep
 * them in. A person who leaves against the rules is asked to confirm.
 */
export function keepExitOpen(judge: (question: Question) => Verdict): (question: Question) => Verdict {
  return (question) => {
    const verdict = judge(question);
    if (verdict.effect !== 'deny' || !isExit(question)) return verdict;
    const isMode = modeExits.includes(question.tool.name);
    const why = isMode
      ? 'No rule lets an operator change the mode, and only people end this one.'
      : 'The rules close this to everyone. The operator who owns the gate can still put other rules in force.';
    const confirmation = explainConfirmation(question.tool);
    return {
      effect: confirmation === undefined ? 'allow' : 'require_approval',
      rule: { id: isMode ? builtInRules.exit : builtInRules.ruleExit },
      reason: confirmation === undefined ? why : `${why} ${confirmation}`,
    };
  };
}
