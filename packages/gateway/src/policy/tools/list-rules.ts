import { PolicyRulesSchema, spellCount } from '@sallyport/contract';
import type { InJson, RuleReport } from '@sallyport/contract';
import type { ActivityTotal } from '../../audit/search/activity.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import type { CompiledRule } from '../language/compile-rules.ts';
import { principals } from '../language/rule.ts';
import type { Rule } from '../language/rule.ts';
import type { PolicyToolParts } from './policy-parts.ts';

/** What is shown in a place of its own, or is not a condition. */
const notConditions: ReadonlySet<string> = new Set<keyof Rule>([
  ...(['id', 'effect', 'tools', 'who', 'shadow', 'reason', 'remedy', 'examples', 'file', 'line'] as const),
  ...(['approvalWaived', 'acceptsNew', 'highRiskAsks', 'keepsOwnApproval'] as const),
]);
const noCounts = { succeeded: 0, denied: 0, asked: 0, failed: 0 };

/** Every rule in force with how often it decided: which matter, and which never matched. */
export function listTool({ rules, store, index }: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.list',
    description: 'Lists the rules in force, with how often each decided a call and when it last did.',
    mutates: false,
    answers: PolicyRulesSchema,
    run: async () => {
      const { hash, all } = rules.current;
      const totals = await index.readTotals(['rule', 'own-rule']);
      const byRule = Map.groupBy(totals, ({ name }) => name);
      const { indexedSize } = await index.search({ filter: nothing, limit: 1 });
      return {
        hash,
        rules: all.map((each) => describeRule(each, byRule.get(each.rule.id) ?? [])),
        indexedSize: String(indexedSize),
        logSize: String(await store.logSize()),
      };
    },
    summarize: (_args, output) => spellCount(output.rules.length, 'rule'),
  });
}

/** Ends at once, and says how much of the log is counted. */
const nothing = { terms: [], anyOf: [], without: [], words: [], sinceMs: Number.MAX_SAFE_INTEGER - 1 };

function describeRule(
  { rule, reference }: Pick<CompiledRule, 'rule' | 'reference'>,
  totals: readonly ActivityTotal[],
): InJson<RuleReport> {
  const counts = totals.reduce((sum, total) => {
    return {
      succeeded: sum.succeeded + total.succeeded,
      denied: sum.denied + total.denied,
      asked: sum.asked + total.asked,
      failed: sum.failed + total.failed,
    };
  }, noCounts);
  const lastMs = Math.max(0, ...totals.map((total) => total.lastMs));
  return {
    rule: { ...reference },
    effect: rule.effect,
    tools: rule.tools,
    who: rule.who ?? principals,
    shadow: rule.shadow,
    reason: rule.reason ?? '',
    conditions: Object.entries(rule).flatMap(([name, value]) => describeCondition(name, value)),
    succeeded: String(counts.succeeded),
    denied: String(counts.denied),
    asked: String(counts.asked),
    failed: String(counts.failed),
    ...(lastMs === 0 ? {} : { lastAtMs: String(lastMs) }),
  };
}

function describeCondition(name: string, value: unknown): string[] {
  if (notConditions.has(name) || value === undefined) return [];
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const isPlain = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return [`${words}: ${isPlain ? value.join(', ') : JSON.stringify(value)}`];
}
