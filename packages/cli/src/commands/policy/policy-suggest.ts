import { InvalidArgumentError } from 'commander';
import { spellCount } from '@sallyport/contract';
import type { InJson, PolicySuggestions } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { usageFailure } from '../../client/failure.ts';
import { runSteps } from '../../client/run-steps.ts';
import type { CommandContext } from '../../command-context.ts';
import { command, flag, parsed } from '../../command-table.ts';
import { truncateText, wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { applyDraft, showDraft } from './policy-own.ts';
import { spanOptions } from './policy-replay.ts';

const numberOf = parsed('number', 'put this one of them in force, after showing it whole', (given) => {
  if (!/^[1-9]\d?$/.test(given)) throw new InvalidArgumentError('It must be the number of a suggestion.');
  return Number(given);
});

/** Rules from what people approved before. */
export const suggestCommand = command('suggest', {
  help: 'propose rules from what people approved before, with the number of questions that each would spare',
  options: { ...spanOptions, apply: numberOf, yes: flag('with --apply: do not ask') },
  run: ({ since, last, apply, yes = false }, context) =>
    runSteps(context, async (step) => {
      const suggested = await step<InJson<PolicySuggestions>>('policy.suggest', { since, last });
      if (apply === undefined) {
        if (context.json) context.terminal.print(visibleJson(suggested));
        else showSuggestions(suggested, context);
        return exitCodes.success;
      }
      const draft = suggested.suggestions[apply - 1]?.draft;
      if (draft === undefined) throw usageFailure(`There is no suggestion ${apply}.`, 'See `policy suggest`.');
      if (!context.json) showDraft(draft, context);
      return applyDraft(draft, step, { yes }, context);
    }),
});

const indent = '   ';

/** The commands or files that the rule is about, or else its name. */
function spellWhat(rule: string): string {
  for (const key of ['commands', 'paths', 'tools', 'id']) {
    const [, found] = new RegExp(`^[ -]*${key}: (.+)$`, 'm').exec(rule) ?? [];
    if (found !== undefined) return found.replace(/^\[(.*)\]$/, '$1');
  }
  return rule;
}

function showSuggestions({ suggestions, leftOut }: InJson<PolicySuggestions>, context: CommandContext): void {
  const { columns, paint, print } = context.terminal;
  if (suggestions.length === 0) {
    print(
      ...wrapWords('Nothing to suggest: nobody approved the same call twice that a rule could let through.', columns),
    );
  }
  for (const [at, { draft, approvals, approvedBy, questions }] of suggestions.entries()) {
    if (draft === undefined) continue;
    const who = approvedBy.map(makeVisibleLine).join(', ');
    const what = `${at + 1}. ${makeVisibleLine(spellWhat(draft.rule))}`;
    print(paint('bold', truncateText(what, columns)));
    print(
      ...wrapWords(
        `${draft.tool} of ${draft.agent}. ${draft.scope} Approved ${spellCount(approvals, 'time')} by ${who}; ${spellCount(questions, 'question')} fewer. Nothing that was ever denied becomes allowed.`,
        columns - indent.length,
      ).map((line) => `${indent}${makeVisibleLine(line)}`),
      '',
    );
  }
  if (suggestions.length > 0)
    print('See one whole, and put it in force, with', `  ${context.commandName} policy suggest --apply NUMBER`, '');
  for (const { why, approvals } of leftOut) {
    print(...wrapWords(`${spellCount(approvals, 'approved call')}: ${makeVisibleLine(why)}`, columns));
  }
}
