import { refuse } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { PathClaim, Resources } from '../../call/tool.ts';
import type { Grants, Question, Rules, Verdict } from '../../call/verdict.ts';
import { printable } from '../../text/printable.ts';
import { createPathClaimer, readClaims } from './claims.ts';
import type { Claim, Claims, OddClaim } from './claims.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import { explainConfirmation, waivesConfirmation } from '../guarantees/confirmation-baseline.ts';
import { completeCombination, findHit, listOpenings, mostCombinations, TooManyCombinations } from './cover-claims.ts';
import type { Hit, Opening } from './cover-claims.ts';
import { unknownSchemaCategory } from '../../registry/define-foreign-tool.ts';
import { describeCall, explainNoRule } from './explain-denial.ts';
import type { RulesPlace } from './explain-denial.ts';
import { intersectGrants, uniteGrants } from '../language/grants.ts';
import { parseHost } from '../patterns/host-pattern.ts';
import type { PathVariables } from './place-path.ts';
import type { ProtectedPaths } from './protected-paths.ts';
import { indexRules } from './rule-index.ts';
import { namesOnlyPaths } from './verdict-memory.ts';
import type { VerdictMemory } from './verdict-memory.ts';
import type { ApplicableRules, Asked } from './rule-index.ts';

/** Ids of what denies without standing in a file. No rule may take them. */
export const builtInRules = {
  nothingMatches: 'default-deny',
  protectedPath: 'protected-path',
  otherProject: 'other-project',
  oddPath: 'canonical-path',
  oddClaim: 'canonical-claim',
  tooMuch: 'too-much-at-once',
  outsideRole: 'outside-role',
  judgeFailed: 'rule-failed',
  exit: 'operator-leaves-lockdown',
  ruleExit: 'operator-mends-rules',
} as const;

export interface JudgeParts {
  readonly rules: readonly CompiledRule[];
  readonly protectedPaths: ProtectedPaths;
  readonly variables: PathVariables;
  readonly place: RulesPlace;
  /** Why a path belongs to another project, as the end of a sentence. Absent: there is no other. */
  readonly explainForeign?: ProtectedPaths['explain'];
}

export interface RuleJudge extends Pick<Rules, 'judge'> {
  readonly judgePaths: (
    question: Parameters<Rules['judgePaths']>[0],
    more?: {
      /** Where it may find what it allowed before. Absent: it works everything out. */
      readonly memory?: VerdictMemory;
      /** Adds what the question does not say, before it is worked out. Absent: nothing is missing. */
      readonly complete?: (asked: Asked) => Asked;
    },
  ) => ReturnType<Rules['judgePaths']>;
}

/**
 * Answers questions from compiled rules. The order of the rules never changes the effect, only which rule is named:
 * adding a denial or taking away an allowance can never let more through.
 */
export function createRuleJudge(
  { rules, protectedPaths, variables, place, explainForeign }: JudgeParts,
  rulesFor: (asked: Asked) => ApplicableRules = indexRules(rules),
): RuleJudge {
  const claimPath = createPathClaimer(variables);
  const granted = findGrants(rules, variables);
  const namedAgents = [...new Set(rules.flatMap(({ rule }) => rule.approvers ?? []))];

  function judgeCall(question: Question): Verdict {
    const claims = readClaims(question.resources, claimPath);
    if ('text' in claims) return denyOdd(claims);
    const closed = findClosed(question, claims);
    if (closed !== undefined) return closed;
    const openings = listOpenings(rulesFor(question).open, question, claims);
    const verdict = askAboutUnknown(decideOpenings(openings, question, claims), question.resources);
    const grants = verdict.effect === 'deny' ? undefined : shareGrants(openings, granted);
    const checked = grants === undefined ? verdict : checkGrants({ ...verdict, grants }, grants, question, claims);
    return nameAsking(nameApprovers(markRewrite(checked, openings), openings, question, claims), question, claims);
  }

  /** One path that a running tool met, with the other things that the call named. */
  function judgePath(asked: Asked, named: Claims | OddClaim, claim: PathClaim): Verdict {
    if ('text' in named) return denyOdd(named);
    const met = readClaims({ paths: [claim] }, claimPath);
    if ('text' in met) return denyOdd(met);
    const claims = { ...named, path: met.path };
    const closed = findClosed(asked, claims);
    if (closed !== undefined) return closed;
    const openings = listOpenings(rulesFor(asked).open, asked, claims);
    return nameApprovers(decideOpenings(openings, asked, claims), openings, asked, claims);
  }

  function findClosed(asked: Asked, claims: Claims): Verdict | undefined {
    const closed = checkReach(claims.path, protectedPaths, explainForeign);
    if (closed !== undefined) return closed;
    const denying = findHit(rulesFor(asked).deny, asked, claims);
    return denying === undefined ? undefined : denyBy(denying, asked);
  }

  /** The most closed of all combinations decides. */
  function decideOpenings(openings: readonly Opening[], asked: Asked, claims: Claims): Verdict {
    let worst: Verdict | undefined;
    for (const { by, combination } of openings) {
      if (by.length === 0) return denyUnmatched(asked, completeCombination(combination, claims));
      const verdict = decideOpened(by, asked);
      if (worst === undefined || (worst.effect === 'allow' && verdict.effect === 'require_approval')) worst = verdict;
    }
    return worst ?? denyUnmatched(asked, completeCombination([], claims));
  }

  /** What is granted is reached like what is named, so the rules that close something have their say about it. */
  function checkGrants(verdict: Verdict, grants: Grants, asked: Asked, claims: Claims): Verdict {
    if (grants.isolation === 'none' && explainForeign !== undefined) return denyUnseparated(asked.tool.name);
    const { deny, ask } = rulesFor(asked);
    const { free, reached } = reachOf(asked, claims, grants);
    const denying = findHit(deny, free, reached);
    if (denying !== undefined) return denyBy(denying, asked);
    if (verdict.effect === 'require_approval') return verdict;
    const asking = findHit(ask, free, reached);
    return asking === undefined ? verdict : { ...askBy(asking.by), grants };
  }

  /**
   * Adds the agents that may decide in a person's place: those that every rule which asks names, and where it is only the
   * tool that asks, a rule that opens. So a further question takes everybody off the list whom it does not name.
   */
  function nameApprovers(verdict: Verdict, openings: readonly Opening[], asked: Asked, claims: Claims): Verdict {
    if (verdict.effect !== 'require_approval' || namedAgents.length === 0) return verdict;
    // What cannot be made good is for people.
    if (asked.tool.risk === 'critical') return verdict;
    const { ask } = rulesFor(asked);
    const { free, reached } = reachOf(asked, claims, verdict.grants);
    const approvers = namedAgents.filter((agent) => {
      const others = (listed: readonly CompiledRule[]) => listed.filter((rule) => !namesApprover(rule, agent));
      if (findHit({ near: (by, about) => others(ask.near(by, about)) }, free, reached) !== undefined) return false;
      return openings.every(
        ({ by }) => by.some((rule) => namesApprover(rule, agent)) || decideOpened(by, asked).effect === 'allow',
      );
    });
    return approvers.length === 0 ? verdict : { ...verdict, approvers };
  }

  /** Adds all the rules that ask, and why: a person's consent answers each of them, and no rule that may ask later. */
  function nameAsking(verdict: Verdict, asked: Asked, claims: Claims): Verdict {
    if (verdict.effect !== 'require_approval') return verdict;
    const { ask } = rulesFor(asked);
    const { free, reached } = reachOf(asked, claims, verdict.grants);
    const asking = new Set<CompiledRule>();
    const others = { near: (by: Asked, about: Claims) => ask.near(by, about).filter((rule) => !asking.has(rule)) };
    for (let hit = findHit(others, free, reached); hit !== undefined; hit = findHit(others, free, reached)) {
      asking.add(hit.by);
    }
    if (asking.size === 0) return verdict;
    const reasons = new Set([verdict.reason, ...[...asking].map((rule) => askBy(rule).reason)]);
    const askedBy = [...asking].map(({ rule }) => rule.id).sort();
    return { ...verdict, reason: [...reasons].join(' '), askedBy };
  }

  function reachOf(asked: Asked, claims: Claims, grants: Grants | undefined): { free: Asked; reached: Claims } {
    if (grants === undefined) return { free: asked, reached: claims };
    // Without a sandbox nothing holds a program to what is named and granted.
    const free = grants.isolation === 'none' ? { ...asked, tool: { ...asked.tool, requiresSandbox: false } } : asked;
    return { free, reached: addGranted(claims, grants) };
  }

  function addGranted(claims: Claims, { read, write, hosts }: Grants): Claims {
    const claim = (access: PathClaim['access']) => (path: string) => claimPath({ path, access });
    return {
      ...claims,
      path: [...claims.path, ...[...read, ...write].map(claim('read')), ...write.map(claim('write'))],
      host: [...claims.host, ...hosts.map(parseHost).filter((host) => host !== undefined)],
    };
  }

  function denyUnmatched(asked: Asked, combination: readonly Claim[]): Verdict {
    const explanation = explainNoRule(asked, combination, rulesFor(asked), place);
    return { effect: 'deny', code: 'NO_RULE_ALLOWS', rule: { id: builtInRules.nothingMatches }, ...explanation };
  }

  return {
    judge: (question) => failClosed(() => judgeCall(question)),
    judgePaths: (question, { memory, complete = unchanged } = {}) => {
      const { resources = nothingNamed, consented, agreedAgent } = question;
      const isAlone = namesOnlyPaths(resources);
      let named: Claims | OddClaim | undefined;
      const judgeMet = (met: PathClaim): Verdict =>
        judgePath(complete(question), (named ??= readClaims({ ...resources, paths: [] }, claimPath)), met);
      const recall = (met: PathClaim): Verdict =>
        memory?.recall(question, isAlone ? met : undefined, () => judgeMet(met)) ?? judgeMet(met);
      return {
        // A consent to the call covers what the rules would only have asked about. What they deny stays denied, whatever
        // was agreed to; and a call that nobody was asked about cannot slip into what needs asking, by a link for example.
        judge: (path, access) =>
          refusalOf(
            failClosed(() => recall({ path, access })),
            ({ approvers }) => consented && (agreedAgent === undefined || approvers?.includes(agreedAgent) === true),
          ),
      };
    },
  };
}

const nothingNamed: Resources = { paths: [] };
const unchanged = (asked: Asked): Asked => asked;

/** Programs of one call share one sandbox, so they get what all combinations of its things get. Undefined: nothing. */
function shareGrants(openings: readonly Opening[], grantsOf: ReadonlyMap<CompiledRule, Grants>): Grants | undefined {
  let shared: Grants | undefined;
  let isNothing = false;
  for (const { by } of openings) {
    const granted = by.flatMap((rule) => grantsOf.get(rule) ?? []);
    isNothing ||= granted.length === 0;
    const united = uniteGrants(granted);
    shared = shared === undefined ? united : intersectGrants(shared, united);
  }
  // A demand of one part holds for the whole call, also where another part is granted nothing.
  return isNothing && shared?.exactLimits !== true ? undefined : shared;
}

/** Links in what is granted are followed once, here: one that is made later leads nowhere. */
function findGrants(rules: readonly CompiledRule[], variables: PathVariables): ReadonlyMap<CompiledRule, Grants> {
  return new Map(rules.flatMap((rule) => (rule.grantsIn === undefined ? [] : [[rule, rule.grantsIn(variables)]])));
}

/** What is decided before any rule is looked at, and for everyone. */
function checkReach(
  claims: readonly PathClaim[],
  protectedPaths: ProtectedPaths,
  explainForeign: JudgeParts['explainForeign'],
): Verdict | undefined {
  for (const { path, access } of claims) {
    const why = protectedPaths.explain(path, access);
    if (why !== undefined) {
      return {
        effect: 'deny',
        code: 'PROTECTED_PATH',
        rule: { id: builtInRules.protectedPath },
        reason: `${printable(path)} ${why}. No rule opens it.`,
        remedy: 'A person can change it outside the gate.',
      };
    }
    const foreign = explainForeign?.(path, access);
    if (foreign !== undefined) return denyForeign(path, foreign);
  }
  return undefined;
}

function denyForeign(path: string, why: string): Verdict {
  return {
    effect: 'deny',
    code: 'PROTECTED_PATH',
    rule: { id: builtInRules.otherProject },
    reason: `${printable(path)} ${why}. No rule opens it to this session.`,
    remedy: 'Ask the operator for a session in that project.',
  };
}

/** Only the sandbox hides other projects from a program. */
function denyUnseparated(tool: string): Verdict {
  return {
    effect: 'deny',
    code: 'PROTECTED_PATH',
    rule: { id: builtInRules.otherProject },
    reason: `${tool} would run without a sandbox here, and could reach other projects. No rule opens them to this session.`,
    remedy: 'Find a way without this tool, or ask the operator to let it run in the sandbox.',
    forOperators: 'Take `isolation: none` out of the rule, or serve this project alone, with a daemon of its own.',
  };
}

/** A waiver is for what its rule names; what nobody can name, a person looks at. */
function askAboutUnknown(verdict: Verdict, { unknown = [] }: Resources): Verdict {
  if (verdict.effect !== 'allow' || unknown.length === 0) return verdict;
  const reason = `It is not known ${printable(unknown[0] ?? '')}. A person must agree.`;
  return { effect: 'require_approval', rule: verdict.rule, reason };
}

/** One part that belongs in the sandbox takes the whole command there: what its rule waives, it waives for the sandbox alone. */
function markRewrite(verdict: Verdict, openings: readonly Opening[]): Verdict {
  if (verdict.effect === 'deny' || !openings.some(({ by }) => by.some(({ rule }) => rule.rewrite))) return verdict;
  return { ...verdict, rewrite: true };
}

function namesApprover({ rule }: CompiledRule, agent: string): boolean {
  return rule.approvers?.includes(agent) === true;
}

function decideOpened(by: readonly CompiledRule[], asked: Asked): Verdict {
  const { tool } = asked;
  const asking = by.find(({ rule }) => rule.effect === 'require_approval');
  if (asking !== undefined) return askBy(asking);
  const [allowing] = by as [CompiledRule];
  // A pattern did not mean a tool whose arguments are unknown: it opens such a tool, and a person sees each call.
  const meant = tool.category === unknownSchemaCategory ? by.filter(({ rule }) => rule.tools.includes(tool.name)) : by;
  const confirmation =
    explainConfirmation(tool) ??
    (meant.length === 0 ? `${tool.name} does not say which arguments it takes.` : undefined);
  if (confirmation === undefined) return answerBy(allowing, 'allow', `Rule ${allowing.rule.id} allows it.`);
  const waiving = meant.find(({ rule }) => waivesConfirmation(rule, asked));
  if (waiving !== undefined) return answerBy(waiving, 'allow', `Rule ${waiving.rule.id} allows it without asking.`);
  return { effect: 'require_approval', rule: allowing.reference, reason: `${confirmation} A person must agree.` };
}

function askBy(by: CompiledRule): Verdict {
  return answerBy(by, 'require_approval', `Rule ${by.rule.id} asks for consent.`);
}

function answerBy(by: CompiledRule, effect: 'allow' | 'require_approval', fallback: string): Verdict {
  const { reason = fallback, remedy } = by.rule;
  return { effect, rule: by.reference, reason, ...(remedy === undefined ? {} : { remedy }) };
}

function denyBy({ by, about }: Hit, asked: Asked): Verdict {
  const { reason, remedy } = by.rule;
  const what = describeCall(asked, about === undefined ? [] : [about]);
  return {
    effect: 'deny',
    code: 'RULE_DENIES',
    rule: by.reference,
    reason: `Rule ${by.reference.id} denies ${what}${reason === undefined ? '.' : `: ${reason}`}`,
    ...(remedy === undefined ? {} : { remedy }),
  };
}

const oddities = {
  path: 'an absolute path in its one plain spelling',
  command: 'a command in its one plain spelling',
  host: 'the name of a host',
  gitOperation: 'the name of a git operation',
  provider: 'the name of a provider',
  model: 'the name of a model',
  app: 'the name of an application',
} as const;

function denyOdd({ kind, text }: OddClaim): Verdict {
  return {
    effect: 'deny',
    code: 'NO_RULE_ALLOWS',
    rule: { id: kind === 'path' ? builtInRules.oddPath : builtInRules.oddClaim },
    reason: `${printable(text)} is not ${oddities[kind]}, so no rule can match it.`,
    remedy:
      kind === 'path'
        ? 'Name the path without "..", ".", empty components, a slash at the end or NUL, in at most 4096 characters.'
        : 'Name it plainly: hosts without address brackets and in ASCII, other names without control characters.',
  };
}

function refusalOf(verdict: Verdict, isConsented: (asking: Verdict) => boolean): Refusal | undefined {
  if (verdict.effect === 'allow' || (verdict.effect === 'require_approval' && isConsented(verdict))) return undefined;
  if (verdict.effect === 'require_approval') {
    const remedy = 'Name the path itself, so that a person can be asked.';
    return refuse('APPROVAL_REQUIRED', verdict.rule, verdict.reason, { remedy });
  }
  const { code = 'NO_RULE_ALLOWS', rule, reason, remedy, forOperators } = verdict;
  return refuse(code, rule, reason, {
    ...(remedy === undefined ? {} : { remedy }),
    ...(forOperators === undefined ? {} : { forOperators }),
  });
}

/** A question that breaks the judge gets the answer that is safe. */
function failClosed(judge: () => Verdict): Verdict {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TooManyCombinations) {
      return {
        effect: 'deny',
        code: 'NO_RULE_ALLOWS',
        rule: { id: builtInRules.tooMuch },
        reason: `The call names so many things that rules would have to decide about more than ${mostCombinations} combinations of them.`,
        remedy: 'Split it into several calls.',
      };
    }
    const cause = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
    return {
      effect: 'deny',
      code: 'RULE_DENIES',
      rule: { id: builtInRules.judgeFailed },
      reason: 'A rule failed while it was applied, so the call is denied.',
      // An error may quote what the call holds, and says how the rules are made.
      forOperators: `This is a fault of Sallyport or of its rules: ${cause}`,
    };
  }
}
