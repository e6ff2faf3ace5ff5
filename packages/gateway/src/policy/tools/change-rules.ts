import { AppliedPolicySchema, OwnRulesSchema, spellCount } from '@sallyport/contract';
import type { AppliedPolicy, InJson } from '@sallyport/contract';
import type { CheckHash } from '../files/applied-rules.ts';
import { ruleProfiles } from '../files/rule-profiles.ts';
import type { LoadedRules } from '../language/load-rules.ts';
import { checkShown } from '../../call/check-shown.ts';
import type { ToolContext } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import type { PolicyToolParts } from './policy-parts.ts';
import * as schema from '../../registry/schemas/schema.ts';

export function applyTool(parts: PolicyToolParts) {
  const { rules } = parts;
  return defineOperatorTool({
    name: 'policy.apply',
    description: 'Puts the rule files in force as they are now. Files that are not valid change nothing.',
    mutates: true,
    idempotent: true,
    answers: AppliedPolicySchema,
    preview: () => {
      const next = rules.preview();
      return { summary: `Apply the rules in ${next.folder}.`, detail: compare(rules.current, next), basis: next.hash };
    },
    run: (_args, context) => change(parts, context, (check) => rules.apply(check)),
    summarize: (_args, { hash }) => `applied ${hash}`,
  });
}

export function promoteTool(parts: PolicyToolParts) {
  const { rules } = parts;
  return defineOperatorTool({
    name: 'policy.promote',
    description: 'Puts a shadow rule in force: changes its file, and applies it from the next call on.',
    mutates: true,
    idempotent: true,
    properties: { rule: schema.string('Id of the rule.', { maxLength: 64 }) },
    required: ['rule'],
    answers: AppliedPolicySchema,
    preview: ({ rule: id }) => {
      const next = rules.previewPromotion(id);
      const promoted = rules.current.tried.find(({ rule }) => rule.id === id);
      const { file = '', line = 1 } = promoted?.reference ?? {};
      return {
        summary: `Put rule ${id} in force, ${promoted?.rule.effect ?? ''}: ${file}:${line}.`,
        detail: `-    shadow: true\n${compare(rules.current, next)}`,
        basis: next.hash,
      };
    },
    run: ({ rule }, context) => change(parts, context, (check) => rules.promote(rule, check)),
    summarize: (_args, { hash }) => `applied ${hash}`,
  });
}

export function initTool({ rules }: PolicyToolParts) {
  return defineOperatorTool({
    name: 'policy.init',
    description: 'Writes a copy of the shipped rules into a folder of your own. What is in force does not change.',
    mutates: true,
    // It opens nothing: the files count once they are applied.
    risk: 'low',
    properties: {
      profile: schema.choice('How strict the rules are.', [...ruleProfiles], { default: 'personal' }),
    },
    answers: OwnRulesSchema,
    run: ({ profile }) => {
      const { folder, files } = rules.init(profile);
      return { profile, folder, files: [...files] };
    },
    summarize: (_args, { profile, folder }) => `${profile} rules in ${folder}`,
  });
}

/** `put` returns the rules that are in force from now on. It throws ConfigError, and then nothing has changed. */
export function change(
  { rules, onApplied }: PolicyToolParts,
  context: ToolContext,
  put: (check: CheckHash) => LoadedRules,
): InJson<AppliedPolicy> {
  const before = rules.current.hash;
  // The files may have been edited since somebody looked at them.
  const { hash, count, folder } = put((next) => checkShown(next, 'What the rule files say', context));
  if (hash !== before) onApplied();
  return { hash, before, count, folder, changed: hash !== before };
}

function compare(current: LoadedRules, next: LoadedRules): string {
  return `in force: ${spellCount(current.count, 'rule')}, ${current.hash}\nthen: ${spellCount(next.count, 'rule')}, ${next.hash}\n`;
}
