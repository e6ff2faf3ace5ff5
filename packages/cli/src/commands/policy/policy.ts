import { spellCount } from '@sallyport/contract';
import type { AppliedPolicy, InJson, PolicyCheck, PolicyReplay, PolicyRules, PolicyStatus } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { command, flag, word } from '../../command-table.ts';
import type { Given } from '../../command-table.ts';
import { explainCommand } from './policy-explain.ts';
import { allowCommand, initCommand } from './policy-own.ts';
import { replayCommand, shadowCommand, showReplay, spanOptions } from './policy-replay.ts';
import { suggestCommand } from './policy-suggest.ts';
import { testCommand } from './policy-test.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { operatorCommand, runOperatorTool } from '../../client/run-tool.ts';
import { printTable, renderFields, renderWrappedTable } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

const unasked = { yes: flag('do not ask') };
const promoted = { rule: word('rule') };
const promoteOptions = { ...spanOptions, dryRun: flag('only show it'), ...unasked };

/** What is allowed, why, and what would change. */
export const policyCommands = [
  operatorCommand('status', {
    help: 'show which rules are in force, and whether the files differ',
    tool: 'policy.status',
    print: showStatus,
  }),
  operatorCommand('list', {
    help: 'list the rules in force, with how often each decided and when it last did',
    tool: 'policy.list',
    print: showRules,
  }),
  operatorCommand('check', {
    help: 'find rules that never match, are covered by others, or reach no tool',
    options: { files: flag('look at the files as they are now, not at the rules in force') },
    tool: 'policy.check',
    input: ({ files = false }) => ({ rules: files ? 'files' : 'applied' }),
    print: showFindings,
  }),
  explainCommand,
  testCommand,
  replayCommand,
  shadowCommand,
  command('apply', {
    help: 'show what the files would have changed, ask, and put them in force as they are now',
    options: unasked,
    run: (given, context) => changeRules('policy.apply', {}, { against: 'in-force' }, given, context),
  }),
  initCommand,
  allowCommand,
  suggestCommand,
  command('promote', {
    help: 'show what a shadow rule would have changed, ask, and put it in force',
    arguments: promoted,
    options: promoteOptions,
    run: promoteRule,
  }),
];

/** Those that never decided are the ones to look at. */
function showRules({ rules }: InJson<PolicyRules>, { terminal }: CommandContext): void {
  const rows = rules.map(({ rule, effect, shadow, tools, lastAtMs, ...counts }) => {
    const hits = [counts.succeeded, counts.denied, counts.asked, counts.failed].reduce((sum, n) => sum + Number(n), 0);
    return [
      rule?.id ?? '',
      shadow ? `${effect} (tried out)` : effect,
      hits === 0 ? 'never' : spellCount(hits, 'call'),
      lastAtMs === undefined ? '' : new Date(Number(lastAtMs)).toISOString().slice(0, 16).replace('T', ' '),
      makeVisibleLine(tools.join(', ')),
    ];
  });
  printTable(terminal, ['rule', 'effect', 'decided', 'last (UTC)', 'tools'], rows, renderWrappedTable);
}

/** Whether the rules in force are what the files say. */
function showStatus(status: InJson<PolicyStatus>, { terminal, commandName }: CommandContext): void {
  const { hash, folder, appliedFolder, count, tried, files, problem } = status;
  const { columns, print } = terminal;
  const say: Readonly<Record<string, string>> = {
    applied: 'as they are in force',
    changed: `changed; put them in force with ${commandName} policy apply`,
    broken: 'changed, and not valid; the rules in force stay',
  };
  print(
    ...renderFields(
      [
        ['rules', tried === 0 ? `${count} in force` : `${count - tried} in force, ${tried} only tried out`],
        ['version', hash],
        ['from', appliedFolder === folder ? '' : makeVisibleLine(appliedFolder)],
        ['folder', makeVisibleLine(folder)],
        ['files', say[files] ?? files],
        ['problem', makeLines(problem)],
      ],
      columns,
      '',
    ),
  );
}

function showFindings({ count, findings }: InJson<PolicyCheck>, { terminal }: CommandContext): void {
  const { columns, print } = terminal;
  if (findings.length === 0)
    return print(
      ...wrapWords(`${spellCount(count, 'rule is', 'rules are')} valid, and nothing looks unintended.`, columns),
    );
  print(`${spellCount(count, 'rule is', 'rules are')} valid. This may not be meant:`, '');
  print(
    ...renderWrappedTable(
      findings.map(({ kind, message }) => [kind, makeVisibleLine(message)]),
      columns,
    ),
  );
}

/** Shows what a shadow rule would have changed, asks, and puts it in force. */
function promoteRule(
  { rule, dryRun = false, yes = false, ...span }: Given<typeof promoted, typeof promoteOptions>,
  context: CommandContext,
): Promise<number> {
  const replay = { ...span, promote: rule, against: 'in-force' };
  if (!dryRun) return changeRules('policy.promote', { rule }, replay, { yes }, context);
  return runOperatorTool('policy.replay', replay, context, (replayed: InJson<PolicyReplay>) =>
    showReplay(replayed, `with ${makeVisibleLine(rule)} in force`, context, ['NOW', 'THEN']),
  );
}

/** The person saw what would have changed and agreed, so the gate does not ask again. */
function changeRules(
  tool: 'policy.apply' | 'policy.promote',
  input: object,
  replay: object,
  options: ConsentOptions,
  context: CommandContext,
): Promise<number> {
  const { columns, print } = context.terminal;
  return runSteps(context, async (step) => {
    const replayed = await step<InJson<PolicyReplay>>('policy.replay', replay);
    if (replayed.hash !== replayed.inForce) {
      if (!context.json) showNext(replayed, context);
      await seekConsent('Put them in force?', options, context);
    }
    const applied = await step<InJson<AppliedPolicy>>(tool, input, 'agreed');
    const { hash, count, changed } = applied;
    const { decided, undecidable, changed: calls, ways } = replayed;
    if (context.json) print(visibleJson({ ...applied, replay: { decided, undecidable, changed: calls, ways } }));
    else if (changed) {
      print(...wrapWords(`${spellCount(count, 'rule is', 'rules are')} in force, version ${hash}.`, columns));
    } else print('Nothing changed: these files are in force already.');
    return exitCodes.success;
  });
}

function showNext(replayed: InJson<PolicyReplay>, context: CommandContext): void {
  const { columns, print } = context.terminal;
  const versions: [string, string][] = [
    ['in force', replayed.inForce],
    ['then', replayed.hash],
  ];
  print(...renderFields(versions, columns, ''), '');
  showReplay(replayed, 'by the new rules', context, ['NOW', 'THEN']);
}

function makeLines(text: string): string {
  return text.split('\n').map(makeVisibleLine).join('\n');
}
