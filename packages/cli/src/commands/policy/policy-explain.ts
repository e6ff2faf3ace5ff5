import type { Explanation, InJson, RuleReference } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { readInputFor } from '../../terminal/read-input.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderFields, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export interface ExplainOptions {
  readonly input?: string;
  readonly agent?: string;
  readonly as?: string;
  readonly session?: string;
  readonly mode?: string;
  readonly files?: boolean;
  /** Also the rules about other tools. */
  readonly all?: boolean;
}

export async function explainPolicy(
  tool: string,
  pairs: readonly string[],
  options: ExplainOptions,
  context: CommandContext,
): Promise<number> {
  const { input, agent, as, session, mode, files, all = false } = options;
  const given = { pairs, ...(input === undefined ? {} : { input }) };
  const args = JSON.parse((await readInputFor(tool, given, context)) || '{}') as object;
  const asked = {
    tool,
    arguments: args,
    ...(agent === undefined ? {} : { agent }),
    ...(as === undefined ? {} : { principal: as }),
    ...(session === undefined ? {} : { session }),
    ...(mode === undefined ? {} : { mode: mode.toUpperCase() }),
    ...(files === true ? { rules: 'files' } : {}),
  };
  return runOperatorTool('policy.explain', asked, context, (explained: InJson<Explanation>) => {
    showVerdict(explained, context);
    showStages(explained, context);
    showRules(explained, all, context);
  });
}

function showVerdict(explained: InJson<Explanation>, { terminal: { columns, paint, print } }: CommandContext): void {
  const { tool, effect, mode, shadow, decidedBy } = explained;
  const tone = effect === 'allow' ? 'green' : effect === 'deny' ? 'red' : 'yellow';
  const tried = shadow === undefined ? '' : `${shadow.effect} by ${placeOf(shadow.rule)}, which is only tried out`;
  print(
    `${paint(tone, effect)}  ${makeVisibleLine(tool)}`,
    ...renderFields(
      [
        ['rule', placeOf(decidedBy?.rule)],
        ['why', makeVisibleLine(decidedBy?.why ?? '')],
        ['who', describeCaller(explained)],
        ['mode', mode],
        ['tried', tried],
        ['remedy', makeVisibleLine(decidedBy?.remedy ?? '')],
      ],
      columns,
    ),
  );
}

function describeCaller({ principal, agent, roles, teams }: InJson<Explanation>): string {
  const standing = [...roles.map((role) => `role ${role}`), ...teams.map((team) => `team ${team}`)];
  return makeVisibleLine([`${principal} ${agent}`, ...standing].join(', '));
}

/** In the order in which a call meets them; what comes behind a no is never asked. */
function showStages(
  { stages, decidedBy }: InJson<Explanation>,
  { terminal: { columns, paint, print } }: CommandContext,
): void {
  const last = stages.findIndex(({ says }) => says === 'denies');
  const met = last < 0 ? stages : stages.slice(0, last + 1);
  const rows = met.map(({ stage, says, why }) => [
    stage === decidedBy?.stage ? '→' : ' ',
    stage,
    says,
    // What the rules say stands above.
    stage === 'judge-call' && stage === decidedBy?.stage ? 'as above' : makeVisibleLine(why),
  ]);
  print('', paint('bold', 'What each gate says'), ...renderWrappedTable(rows, columns));
}

function showRules(
  { considered, tool }: InJson<Explanation>,
  all: boolean,
  { terminal: { columns, paint, print } }: CommandContext,
): void {
  const shown = considered.filter((rule) => all || rule.namesTool);
  const matching = shown.filter(({ mismatch }) => mismatch === undefined);
  const others = shown.filter(({ mismatch }) => mismatch !== undefined);
  const rows = [...matching, ...others].map(({ rule, effect, shadow, decides, mismatch }) => [
    decides ? '→' : ' ',
    placeOf(rule && { ...rule, file: rule.file?.replace(/^.*\//, '') ?? '' }),
    shadow ? `${effect} (tried out)` : effect,
    mismatch === undefined ? 'matches' : makeVisibleLine(mismatch),
  ]);
  print('', paint('bold', all ? 'Every rule' : `Rules about ${makeVisibleLine(tool)}`));
  print(...(rows.length === 0 ? ['  none'] : renderWrappedTable(rows, columns)));
  const hidden = considered.length - shown.length;
  if (hidden > 0) print(paint('dim', `${hidden} more are about other tools; --all shows them.`));
}

function placeOf(rule: InJson<RuleReference> | undefined): string {
  const { id = '', file = '', line = 1 } = rule ?? {};
  return file === '' ? id : `${id} (${makeVisibleLine(file)}:${line})`;
}
