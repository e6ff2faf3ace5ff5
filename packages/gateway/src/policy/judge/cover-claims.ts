import { kinds, reachesUnnamed } from './claims.ts';
import type { Claim, ClaimedPath, Claims, Kind } from './claims.ts';
import { fitsCircumstances } from '../language/compile-rules.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import type { Asked, RuleList } from './rule-index.ts';

// A call is every combination of one thing of each kind that it names: with the paths a and b and the command c, it is
// (a, c) and (b, c). A rule covers a combination when each of its conditions covers the thing of its kind. The call is
// denied when one combination is, and let through when every one is; so rules never add up to more than they say.

/** A rule that covers one of the combinations, and the thing that shows it. */
export interface Hit {
  readonly by: CompiledRule;
  /** Absent: the rule does not look at things, or the call names none. */
  readonly about?: Claim;
}

/** The first rule that covers at least one combination. */
export function findHit({ near }: Pick<RuleList, 'near'>, asked: Asked, claims: Claims): Hit | undefined {
  if (claims.path.length === 0) return firstHit(near(asked, claims), asked, claims);
  for (const claim of claims.path) {
    const one = { ...claims, path: [claim] };
    const hit = firstHit(near(asked, one), asked, one);
    if (hit !== undefined) return hit;
  }
  return undefined;
}

function firstHit(rules: readonly CompiledRule[], asked: Asked, claims: Claims): Hit | undefined {
  for (const by of rules) {
    if (!coversSomeOfEach(by, asked, claims) || !fitsCircumstances(by, asked)) continue;
    const about = by.kinds.flatMap((kind) => findCovered(by, kind, claims))[0];
    return { by, ...(about === undefined ? {} : { about }) };
  }
  return undefined;
}

/** Whether the rule covers one of the combinations, as far as things go. */
export function coversSomeOfEach(rule: CompiledRule, asked: Asked, claims: Claims): boolean {
  for (const kind of rule.kinds) {
    const claimed = claims[kind];
    const covered =
      claimed.length === 0
        ? coversUnnamed(rule, kind, asked)
        : claimed.some((claim: Claim['claim']) => coversClaim(rule, kind, claim));
    if (!covered) return false;
  }
  return true;
}

function findCovered(rule: CompiledRule, kind: Kind, claims: Claims): readonly Claim[] {
  const found = claims[kind].find((claim: Claim['claim']) => coversClaim(rule, kind, claim));
  return found === undefined ? [] : [{ kind, claim: found } as Claim];
}

/** The rules that let one combination through: none, when the call must not go through. */
export interface Opening {
  readonly by: readonly CompiledRule[];
  /** One thing of each kind that the rules look at and the call names. */
  readonly combination: readonly Claim[];
}

/** More than any honest call has; a hostile one must not keep the gate busy. */
export const mostCombinations = 2_000;

export class TooManyCombinations extends Error {}

/**
 * One opening for each combination; combinations that the same rules let through are told once. Stops at the first that
 * none lets through, which is then the last of the list.
 */
export function listOpenings(open: RuleList, asked: Asked, claims: Claims): readonly Opening[] {
  const openings: Opening[] = [];
  const fits = (rule: CompiledRule): boolean => fitsCircumstances(rule, asked);

  /** Returns whether to go on. */
  function walk(rules: readonly CompiledRule[], depth: number, combination: readonly Claim[]): boolean {
    const kind = open.kinds[depth];
    const isOpen = rules.some(({ opens }) => opens);
    if (kind === undefined || !isOpen) {
      if (openings.length === mostCombinations) throw new TooManyCombinations();
      openings.push({ by: isOpen ? rules : [], combination });
      return isOpen;
    }
    const claimed = claims[kind];
    if (claimed.length === 0) {
      const left = rules.filter((rule) => rule.conditions[kind] === undefined || coversUnnamed(rule, kind, asked));
      return walk(left, depth + 1, combination);
    }
    const seen = new Set<string>();
    for (const claim of claimed) {
      // Paths are the first kind: no rule has been ruled out yet, and the index knows them all.
      const near = kind === 'path' ? open.near(asked, { ...claims, path: [claim as ClaimedPath] }) : rules;
      const left = near.filter((rule) => coversClaim(rule, kind, claim) && fits(rule));
      if (claimed.length > 1) {
        const same = left.map((rule) => open.orderOf.get(rule)).join(' ');
        if (seen.has(same)) continue;
        seen.add(same);
      }
      if (!walk(left, depth + 1, [...combination, { kind, claim } as Claim])) return false;
    }
    return true;
  }

  const byPath = open.kinds[0] === 'path' && claims.path.length > 0;
  walk(byPath ? open.rules : open.near(asked, claims).filter(fits), 0, []);
  return openings;
}

function coversClaim(rule: CompiledRule, kind: Kind, claim: Claim['claim']): boolean {
  const covers = rule.conditions[kind] as ((thing: Claim['claim']) => boolean) | undefined;
  return covers === undefined || covers(claim);
}

/**
 * The rule looks at things of a kind and the call names none. An allowance does not stretch to it; a denial does when
 * the tool reaches such things, because nobody can tell which.
 */
function coversUnnamed(rule: CompiledRule, kind: Kind, asked: Asked): boolean {
  return rule.rule.effect !== 'allow' && reachesUnnamed(asked.tool, kind);
}

/** With the first thing of each kind that is missing, so that a sentence about the combination leaves nothing out. */
export function completeCombination(combination: readonly Claim[], claims: Claims): readonly Claim[] {
  return kinds.flatMap((kind) => {
    const chosen = combination.find((claim) => claim.kind === kind);
    return chosen === undefined ? claims[kind].slice(0, 1).map((claim) => ({ kind, claim }) as Claim) : [chosen];
  });
}
