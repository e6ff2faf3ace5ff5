import { spellCount } from '@sallyport/contract';
import type { AppliedPolicy, InJson, PolicyCheck, PolicyReplay, PolicyStatus } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { showReplay } from './policy-replay.ts';
import type { SpanOptions } from './policy-replay.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderFields, renderWrappedTable } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

/** Whether the rules in force are what the files say. */
export function showPolicy(context: CommandContext): Promise<number> {
  return runOperatorTool('policy.status', {}, context, (status: InJson<PolicyStatus>) => {
    const { hash, folder, appliedFolder, count, tried, files, problem } = status;
    const { columns, print } = context.terminal;
    const say: Readonly<Record<string, string>> = {
      applied: 'as they are in force',
      changed: `changed; put them in force with ${context.commandName} policy apply`,
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
  });
}

export function checkPolicy({ files = false }: { readonly files?: boolean }, context: CommandContext): Promise<number> {
  const input = { rules: files ? 'files' : 'applied' };
  return runOperatorTool('policy.check', input, context, ({ count, findings }: InJson<PolicyCheck>) => {
    const { columns, print } = context.terminal;
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
  });
}

/** Shows a person what the files would have changed, asks, and puts them in force. */
export function applyPolicy(options: ConsentOptions, context: CommandContext): Promise<number> {
  return changeRules('policy.apply', {}, { against: 'in-force' }, options, context);
}

export interface PromoteOptions extends ConsentOptions, SpanOptions {
  readonly dryRun?: boolean;
}

/** Shows what a tried-out rule would have changed, asks, and puts it in force. */
export function promoteRule(rule: string, options: PromoteOptions, context: CommandContext): Promise<number> {
  const { last, since, dryRun = false, ...consent } = options;
  const span = { ...(last === undefined ? {} : { last }), ...(since === undefined ? {} : { since }) };
  const replay = { ...span, promote: rule, against: 'in-force' };
  if (!dryRun) return changeRules('policy.promote', { rule }, replay, consent, context);
  return runOperatorTool('policy.replay', replay, context, (replayed: InJson<PolicyReplay>) =>
    showReplay(replayed, `with ${makeVisibleLine(rule)} in force`, context, ['NOW', 'THEN']),
  );
}

/** Whoever was shown what would have changed, and agreed, is not asked again by the gate. */
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
