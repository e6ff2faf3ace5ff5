import { spellCount } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import type { CheckHash } from '../language/applied-rules.ts';
import type { LoadedRules } from '../language/load-rules.ts';
import type { Effect, Tool } from '../../call/tool.ts';
import { defineAdministration } from '../../registry/administration.ts';
import { checkShown } from '../../call/check-shown.ts';
import { anyObject, withConfigErrors } from './policy-parts.ts';
import type { PolicyToolParts, Properties } from './policy-parts.ts';

export function applyTool(parts: PolicyToolParts): Tool<JsonObject> {
  const { rules } = parts;
  return defineChange(parts, {
    name: 'policy.apply',
    description: 'Puts the rule files in force as they are now. Files that are not valid change nothing.',
    properties: {},
    preview: () => {
      const next = rules.preview();
      return { summary: `Apply the rules in ${next.folder}.`, detail: compare(rules.current, next), basis: next.hash };
    },
    run: (_args, check) => rules.apply(check),
  });
}

export function promoteTool(parts: PolicyToolParts): Tool<JsonObject> {
  const { rules } = parts;
  return defineChange(parts, {
    name: 'policy.promote',
    description: 'Puts a rule in force that is only tried out: in its file, and from the next call on.',
    properties: { rule: { type: 'string', maxLength: 64, description: 'Id of the rule.' } },
    preview: (args) => {
      const { rule: id } = args as { readonly rule: string };
      const next = rules.previewPromotion(id);
      const promoted = rules.current.tried.find(({ rule }) => rule.id === id);
      const { file = '', line = 1 } = promoted?.reference ?? {};
      return {
        summary: `Put rule ${id} in force, ${promoted?.rule.effect ?? ''}: ${file}:${line}.`,
        detail: `-    shadow: true\n${compare(rules.current, next)}`,
        basis: next.hash,
      };
    },
    run: (args, check) => rules.promote((args as { readonly rule: string }).rule, check),
  });
}

interface Change {
  readonly name: string;
  readonly description: string;
  /** All of them are required. */
  readonly properties: Properties;
  readonly preview: (args: JsonObject) => Pick<Effect, 'summary' | 'detail' | 'basis'>;
  /** Returns the rules that are in force from now on. Throws ConfigError, and then nothing has changed. */
  readonly run: (args: JsonObject, check: CheckHash) => LoadedRules;
}

function defineChange({ rules, onApplied }: PolicyToolParts, change: Change): Tool<JsonObject> {
  const { name, description, properties, preview, run } = change;
  return {
    definition: defineAdministration({
      ...{ name, description, mutates: true, idempotent: true, outputSchema: anyObject },
      inputSchema: { type: 'object', additionalProperties: false, required: Object.keys(properties), properties },
    }),
    claim: () => ({ paths: [] }),
    preview: (args) => withConfigErrors(() => ({ ...preview(args), undoable: false })),
    run: async (args, context) => {
      const before = rules.current.hash;
      // The files may have been edited since somebody looked at them.
      const check: CheckHash = (hash) => checkShown(hash, 'What the rule files say', context);
      const { hash, count, folder } = await withConfigErrors(() => run(args, check));
      if (hash !== before) onApplied();
      return { hash, before, count, folder, changed: hash !== before };
    },
    summarize: (_args, output) => `applied ${(output as { readonly hash: string }).hash}`,
  };
}

function compare(current: LoadedRules, next: LoadedRules): string {
  return `in force: ${spellCount(current.count, 'rule')}, ${current.hash}\nthen: ${spellCount(next.count, 'rule')}, ${next.hash}\n`;
}
