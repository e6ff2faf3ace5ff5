import { refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import type { PathClaim } from '../model/tool.ts';
import type { Question, Rules, Verdict } from '../model/verdict.ts';
import { isCanonicalPath, printable } from './canonical-path.ts';
import { createPathClaimer } from './compile-rules.ts';
import type { ClaimedPath, CompiledRule } from './compile-rules.ts';
import { explainConfirmation, isWaivable } from './confirmation-baseline.ts';
import { describeCall, explainNoRule } from './explain-denial.ts';
import type { RulesPlace } from './explain-denial.ts';
import type { PathVariables } from './place-path.ts';
import type { ProtectedPaths } from './protected-paths.ts';
import { indexRules } from './rule-index.ts';
import type { ApplicableRules, Asked } from './rule-index.ts';
import { accesses } from './rule.ts';

/** Ids of what denies without standing in a file. No rule may take them. */
export const builtInRules = {
  nothingMatches: 'default-deny',
  protectedPath: 'protected-path',
  oddPath: 'canonical-path',
  judgeFailed: 'rule-failed',
} as const;

export interface JudgeParts {
  readonly rules: readonly CompiledRule[];
  readonly protectedPaths: ProtectedPaths;
  readonly variables: PathVariables;
  readonly place: RulesPlace;
}

/**
 * Answers questions from compiled rules. The order of the rules never changes the effect, only which rule is named:
 * adding a denial or taking away an allowance can never let more through.
 */
export function createRuleJudge(parts: JudgeParts): Pick<Rules, 'judge' | 'judgePaths'> {
  const { rules, protectedPaths, variables, place } = parts;
  const claimPath = createPathClaimer(variables);
  const rulesFor = indexRules(rules);

  function judgeQuestion(question: Question): Verdict {
    const { paths } = question.resources;
    for (const claim of paths) {
      const closed = checkReach(claim, protectedPaths);
      if (closed !== undefined) return closed;
    }
    const applicable = rulesFor(question);
    if (paths.length === 0) return decide(question, undefined, applicable);
    let worst: Verdict | undefined;
    for (const claim of paths) {
      const verdict = decide(question, claimPath(claim), applicable);
      if (verdict.effect === 'deny') return verdict;
      if (worst === undefined || (worst.effect === 'allow' && verdict.effect === 'require_approval')) worst = verdict;
    }
    return worst ?? denyUnmatched(question, undefined);
  }

  function decide(asked: Asked, path: ClaimedPath | undefined, applicable: ApplicableRules): Verdict {
    const denying = firstCovering(applicable.deny, asked, path);
    if (denying !== undefined) return denyBy(denying, asked, path);
    const asking = firstCovering(applicable.require_approval, asked, path);
    if (asking !== undefined) return answerBy(asking, 'require_approval', `Rule ${asking.rule.id} asks for consent.`);
    const allowing = firstCovering(applicable.allow, asked, path);
    if (allowing === undefined) return denyUnmatched(asked, path);

    const confirmation = explainConfirmation(asked.tool);
    if (confirmation === undefined) return answerBy(allowing, 'allow', `Rule ${allowing.rule.id} allows it.`);
    const waiving = isWaivable(asked.tool) ? firstCovering(applicable.waive, asked, path) : undefined;
    if (waiving !== undefined) return answerBy(waiving, 'allow', `Rule ${waiving.rule.id} allows it without asking.`);
    return { effect: 'require_approval', rule: allowing.reference, reason: `${confirmation} A person must agree.` };
  }

  function denyUnmatched(asked: Asked, path: ClaimedPath | undefined): Verdict {
    const explanation = explainNoRule(asked, path, rules, place);
    return { effect: 'deny', code: 'NO_RULE_ALLOWS', rule: { id: builtInRules.nothingMatches }, ...explanation };
  }

  function judgeOpened(asked: Asked, claim: PathClaim): Verdict {
    return checkReach(claim, protectedPaths) ?? decide(asked, claimPath(claim), rulesFor(asked));
  }

  return {
    judge: (question) => failClosed(() => judgeQuestion(question)),
    judgePaths: (asked) => ({
      // A consent to the call covers what the rules would only have asked about. What they deny stays denied, whatever
      // was agreed to; and a call that nobody was asked about cannot slip into what needs asking, by a link for example.
      judge: (path, access) =>
        refusalOf(
          failClosed(() => judgeOpened(asked, { path, access })),
          asked.consented,
        ),
    }),
  };
}

/** What is decided before any rule is looked at, and for everyone. */
function checkReach({ path, access }: PathClaim, protectedPaths: ProtectedPaths): Verdict | undefined {
  if (!accesses.includes(access)) throw new TypeError('a path was claimed without saying for what');
  if (!isCanonicalPath(path)) {
    return {
      effect: 'deny',
      code: 'NO_RULE_ALLOWS',
      rule: { id: builtInRules.oddPath },
      reason: `${printable(path)} is not an absolute path in its one plain spelling, so no rule can match it.`,
      remedy:
        'Name the path without "..", ".", empty components, a slash at the end or NUL, in at most 4096 characters.',
    };
  }
  const why = protectedPaths.explain(path, access);
  if (why === undefined) return undefined;
  return {
    effect: 'deny',
    code: 'PROTECTED_PATH',
    rule: { id: builtInRules.protectedPath },
    reason: `${printable(path)} ${why}. No rule opens it.`,
    remedy: 'A person can change it outside the gate.',
  };
}

function firstCovering(
  rules: readonly CompiledRule[],
  asked: Asked,
  path: ClaimedPath | undefined,
): CompiledRule | undefined {
  for (const rule of rules) if (covers(rule, asked, path)) return rule;
  return undefined;
}

function covers(rule: CompiledRule, asked: Asked, path: ClaimedPath | undefined): boolean {
  if (rule.coversAgent?.(asked.agent) === false) return false;
  if (rule.coversPath === undefined) return true;
  if (path !== undefined) return rule.coversPath(path);
  // The call names no path. An allowance for paths does not stretch to it; a denial does when the tool reaches paths,
  // because nobody can tell which.
  return rule.rule.effect !== 'allow' && asked.tool.scopes.includes('paths');
}

function answerBy(by: CompiledRule, effect: 'allow' | 'require_approval', fallback: string): Verdict {
  const { reason = fallback, remedy } = by.rule;
  return { effect, rule: by.reference, reason, ...(remedy === undefined ? {} : { remedy }) };
}

function denyBy(by: CompiledRule, asked: Asked, path: ClaimedPath | undefined): Verdict {
  const { reason, remedy } = by.rule;
  const said = `Rule ${by.reference.id} denies ${describeCall(asked, path)}${reason === undefined ? '.' : `: ${reason}`}`;
  return {
    effect: 'deny',
    code: 'RULE_DENIES',
    rule: by.reference,
    reason: said,
    ...(remedy === undefined ? {} : { remedy }),
  };
}

function refusalOf(verdict: Verdict, consented: boolean): Refusal | undefined {
  if (verdict.effect === 'allow' || (verdict.effect === 'require_approval' && consented)) return undefined;
  if (verdict.effect === 'require_approval') {
    const remedy = 'Name the path itself, so that a person can be asked.';
    return refuse('APPROVAL_REQUIRED', verdict.rule, verdict.reason, { remedy });
  }
  const { code = 'NO_RULE_ALLOWS', rule, reason, remedy } = verdict;
  return refuse(code, rule, reason, remedy === undefined ? {} : { remedy });
}

/** A question that breaks the judge gets the answer that is safe. */
function failClosed(judge: () => Verdict): Verdict {
  try {
    return judge();
  } catch (error) {
    const cause = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
    return {
      effect: 'deny',
      code: 'RULE_DENIES',
      rule: { id: builtInRules.judgeFailed },
      reason: `The rules could not be applied (${cause}), so the call is denied.`,
      remedy: 'This is a fault of Sallyport or of its rules; an operator should look at it.',
    };
  }
}
