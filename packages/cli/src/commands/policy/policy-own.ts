import { spellCount } from '@sallyport/contract';
import type { AppliedPolicy, InJson, OwnRules, PolicyDraft } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { findCall } from '../../client/find-call.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions, Step } from '../../client/run-steps.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import type { CommandContext } from '../../command-context.ts';
import { choice, command, flag, withDefault, word } from '../../command-table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisible, makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { showReplay } from './policy-replay.ts';

const profiles = ['personal', 'team', 'strict'];

/** Rules of one's own, to be edited. */
export const initCommand = operatorCommand('init', {
  help: 'write a copy of the shipped rules for you to edit',
  options: {
    profile: withDefault(
      choice('name', profiles, 'personal: agents write unasked; team: they ask; strict: they only read'),
      'personal',
    ),
  },
  tool: 'policy.init',
  print: ({ profile, folder, files }: InJson<OwnRules>, { terminal, commandName }) => {
    const { columns, print } = terminal;
    print(...wrapWords(`Your rules (${profile}) are in ${makeVisibleLine(folder)}: ${files.join(', ')}.`, columns));
    print('Edit them, and put them in force, without a restart, with', `  ${commandName} policy apply`);
    if (profile === 'team') {
      print(
        ...wrapWords('To count agents as members of a team, with roles and rates of their own, also run', columns),
        `  ${commandName} tool invoke system.configure setting=profile value=team`,
      );
    }
  },
});

/** A rule for a call that was denied, or that people are asked about each time. */
export const allowCommand = command('allow', {
  help: 'draft the narrowest rule that allows a call which was denied or which asked; show what it changes, ask, and apply it',
  arguments: { call: word('call-id') },
  options: {
    widen: withDefault(
      choice('steps', ['0', '1', '2'], 'for a call that asked: how many steps wider than exactly this call'),
      '0',
    ),
    dryRun: flag('only show it'),
    yes: flag('do not ask'),
  },
  run: ({ call, widen, dryRun = false, yes = false }, context) => {
    const { print } = context.terminal;
    return runSteps(context, async (step) => {
      const id = await findCall(call, context.openOperatorClient());
      if (id === undefined) throw usageFailure(`There is no record of a call ${call}.`, 'See `audit tail`.');
      const draft = await step<InJson<PolicyDraft>>('policy.draft', { call: id, widen: Number(widen) });
      if (!context.json) showDraft(draft, context);
      if (dryRun) {
        if (context.json) print(visibleJson(draft));
        return exitCodes.success;
      }
      return applyDraft(draft, step, { yes }, context);
    });
  },
});

/** Asks the person who was shown a draft, and puts it in force. */
export async function applyDraft(
  draft: InJson<PolicyDraft>,
  step: Step,
  consent: ConsentOptions,
  context: CommandContext,
): Promise<number> {
  const { print } = context.terminal;
  await seekConsent('Put this rule in force?', consent, context);
  const { callId: call, width: widen, shown } = draft;
  const applied = await step<InJson<AppliedPolicy>>('policy.allow', { call, widen, shown }, 'agreed');
  if (context.json) print(visibleJson({ ...applied, draft }));
  else {
    const next = draft.effect === 'require_approval' ? 'asks a person' : 'is let through';
    print(`${spellCount(applied.count, 'rule is', 'rules are')} in force. The next such call ${next}.`);
  }
  return exitCodes.success;
}

export function showDraft(draft: InJson<PolicyDraft>, context: CommandContext): void {
  const { columns, print } = context.terminal;
  const { rule, file, effect, replay, undecidableDenials, scope, wider, reopened } = draft;
  if (scope !== '') print(...wrapWords(`From now on without a question: ${makeVisibleLine(scope)}`, columns), '');
  print(`For ${makeVisibleLine(file)}:`, '');
  print(
    ...makeVisible(rule)
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
    '',
  );
  if (effect === 'require_approval') {
    print(...wrapWords('Because of its risk, the call still asks a person each time.', columns), '');
  }
  if (wider !== '') print(...wrapWords(`One step wider would be: ${makeVisibleLine(wider)}`, columns), '');
  if (reopened > 0) {
    const calls = spellCount(reopened, 'call that was denied before', 'calls that were denied before');
    print(context.terminal.paint('red', `It would let ${calls} through.`), '');
  }
  if (replay !== undefined) showReplay(replay, 'with this rule', context, ['NOW', 'THEN']);
  if (undecidableDenials > 0) {
    const denied = spellCount(undecidableDenials, 'denied call');
    print(...wrapWords(`${denied} of this tool cannot be decided again: the log does not keep enough.`, columns));
  }
}
