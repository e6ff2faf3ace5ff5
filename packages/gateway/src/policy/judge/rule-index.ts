import type { Question } from '../../call/verdict.ts';
import { kinds } from './claims.ts';
import type { Claims, Kind } from './claims.ts';
import { indexByClue } from './clue-index.ts';
import { listClues } from './clues.ts';
import type { Clue } from './clues.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import type { Rule } from '../language/rule.ts';

/** What a call is apart from its resources. */
export type Asked = Omit<Question, 'resources'>;

/** Some rules, in the order of the file. */
export interface RuleList {
  readonly rules: readonly CompiledRule[];
  /** The kinds of things that one of them looks at. */
  readonly kinds: readonly Kind[];
  /** Those that may cover a combination of the claims: all that do, and few others. */
  readonly near: (asked: Asked, claims: Claims) => readonly CompiledRule[];
  readonly orderOf: ReadonlyMap<CompiledRule, number>;
}

/** The rules that speak about one tool, mode and kind of caller. */
export interface ApplicableRules {
  readonly deny: RuleList;
  readonly ask: RuleList;
  /** Those that let a call through, asked or not. */
  readonly open: RuleList;
  /** Those that would in some mode, for someone: what a denial can point to. */
  readonly elsewhere: RuleList;
}

type Effect = CompiledRule['rule']['effect'];
type ByStanding = Map<Question['mode'], Map<Question['principal'], ApplicableRules>>;

const maxRememberedTools = 1024;

/** Sorts the rules out once per tool, mode and kind of caller, so that a call meets only those that could decide it. */
export function indexRules(
  rules: readonly CompiledRule[],
  index: typeof indexByClue = indexByClue,
): (asked: Asked) => ApplicableRules {
  const remembered = new Map<string, ByStanding>();
  const clues = new Map<Rule, readonly Clue[]>();
  const cluesOf = (rule: Rule): readonly Clue[] => {
    const known = clues.get(rule) ?? listClues(rule);
    clues.set(rule, known);
    return known;
  };
  const keyOf = ({ tool }: Asked): string => (tool.origin === undefined ? tool.name : `${tool.origin} ${tool.name}`);

  function remember(asked: Asked): ApplicableRules {
    const { tool, mode, principal } = asked;
    // Tools come and go with upstream servers; starting over is cheaper than keeping track of age.
    if (remembered.size >= maxRememberedTools) remembered.clear();
    const byMode: ByStanding = remembered.get(keyOf(asked)) ?? new Map();
    const byPrincipal = byMode.get(mode) ?? new Map<Question['principal'], ApplicableRules>();
    const found = sortOut(
      rules.filter((rule) => rule.coversTool(tool)),
      (rule) => rule.who.has(principal) && rule.modes.has(mode),
      (listed) => index(listed, cluesOf),
    );
    remembered.set(keyOf(asked), byMode.set(mode, byPrincipal.set(principal, found)));
    return found;
  }

  return (asked) => remembered.get(keyOf(asked))?.get(asked.mode)?.get(asked.principal) ?? remember(asked);
}

function sortOut(
  rules: readonly CompiledRule[],
  applies: (rule: CompiledRule) => boolean,
  index: (listed: readonly CompiledRule[]) => RuleList['near'],
): ApplicableRules {
  const applicable = rules.filter(applies);
  const list = (from: readonly CompiledRule[], isIn: (effect: Effect) => boolean): RuleList => {
    const listed = from.filter(({ rule }) => isIn(rule.effect));
    const looked = new Set(listed.flatMap((rule) => rule.kinds));
    // Some lists are never searched.
    let near: RuleList['near'] | undefined;
    return {
      rules: listed,
      kinds: kinds.filter((kind) => looked.has(kind)),
      near: (asked, claims) => (near ??= index(listed))(asked, claims),
      orderOf: new Map(listed.map((rule, at) => [rule, at])),
    };
  };
  return {
    deny: list(applicable, (effect) => effect === 'deny'),
    ask: list(applicable, (effect) => effect === 'require_approval'),
    open: list(applicable, (effect) => effect !== 'deny'),
    elsewhere: list(
      rules.filter(({ opens }) => opens),
      () => true,
    ),
  };
}
