import type { Question } from '../model/verdict.ts';
import type { CompiledRule } from './compile-rules.ts';

/** What a call is apart from its resources. */
export type Asked = Omit<Question, 'resources'>;

/** The rules that speak about one tool, mode and kind of caller, by effect, in the order of the file. */
export interface ApplicableRules {
  readonly deny: readonly CompiledRule[];
  readonly require_approval: readonly CompiledRule[];
  readonly allow: readonly CompiledRule[];
  /** Those of `allow` that also lift the confirmation. */
  readonly waive: readonly CompiledRule[];
}

type ByStanding = Map<Question['mode'], Map<Question['principal'], ApplicableRules>>;

const maxRememberedTools = 1024;

/** Sorts the rules out once per tool, mode and kind of caller, so that a call meets only those that could decide it. */
export function indexRules(rules: readonly CompiledRule[]): (asked: Asked) => ApplicableRules {
  const remembered = new Map<string, ByStanding>();

  function remember({ tool, mode, principal }: Asked): ApplicableRules {
    // Tools come and go with upstream servers; starting over is cheaper than keeping track of age.
    if (remembered.size >= maxRememberedTools) remembered.clear();
    const byMode: ByStanding = remembered.get(tool.name) ?? new Map();
    const byPrincipal = byMode.get(mode) ?? new Map<Question['principal'], ApplicableRules>();
    const found = sortOut(
      rules.filter((rule) => rule.who.has(principal) && rule.modes.has(mode) && rule.coversTool(tool.name)),
    );
    remembered.set(tool.name, byMode.set(mode, byPrincipal.set(principal, found)));
    return found;
  }

  return (asked) => remembered.get(asked.tool.name)?.get(asked.mode)?.get(asked.principal) ?? remember(asked);
}

function sortOut(rules: readonly CompiledRule[]): ApplicableRules {
  const byEffect = Map.groupBy(rules, ({ rule }) => rule.effect);
  const allow = byEffect.get('allow') ?? [];
  return {
    deny: byEffect.get('deny') ?? [],
    require_approval: byEffect.get('require_approval') ?? [],
    allow,
    waive: allow.filter(({ rule }) => rule.approvalWaived),
  };
}
