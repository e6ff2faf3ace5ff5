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

interface Rule {
  readonly rule_id: string;
  readonly file?: string;
  readonly line?: number;
}

interface Stage extends Partial<Rule> {
  readonly stage: string;
  readonly says: 'passes' | 'asks' | 'denies' | 'depends';
  readonly why: string;
}

interface Considered extends Rule {
  readonly effect: string;
  readonly matches: boolean;
  readonly decides: boolean;
  readonly names_tool: boolean;
  readonly shadow?: boolean;
  readonly why?: string;
}

export interface Explained extends Rule {
  readonly tool: string;
  readonly agent: string;
  readonly principal: string;
  readonly roles: readonly string[];
  readonly teams: readonly string[];
  readonly effect: string;
  readonly decided_by: string;
  readonly reason: string;
  readonly remedy?: string;
  readonly mode: string;
  readonly shadow?: Rule & { readonly effect: string };
  readonly stages: readonly Stage[];
  readonly considered: readonly Considered[];
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
  return runOperatorTool('policy.explain', asked, context, (explained: Explained) => {
    showVerdict(explained, context);
    showStages(explained.stages, explained.decided_by, context);
    showRules(explained, all, context);
  });
}

function showVerdict(explained: Explained, { terminal: { columns, paint, print } }: CommandContext): void {
  const { tool, effect, reason, remedy = '', mode, shadow } = explained;
  const tone = effect === 'allow' ? 'green' : effect === 'deny' ? 'red' : 'yellow';
  const tried = shadow === undefined ? '' : `${shadow.effect} by ${placeOf(shadow)}, which is only tried out`;
  print(
    `${paint(tone, effect)}  ${makeVisibleLine(tool)}`,
    ...renderFields(
      [
        ['rule', placeOf(explained)],
        ['why', makeVisibleLine(reason)],
        ['who', describeCaller(explained)],
        ['mode', mode],
        ['tried', tried],
        ['remedy', makeVisibleLine(remedy)],
      ],
      columns,
    ),
  );
}

function describeCaller({ principal, agent, roles, teams }: Explained): string {
  const standing = [...roles.map((role) => `role ${role}`), ...teams.map((team) => `team ${team}`)];
  return makeVisibleLine([`${principal} ${agent}`, ...standing].join(', '));
}

/** In the order in which a call meets them; what comes behind a no is never asked. */
function showStages(
  stages: readonly Stage[],
  decidedBy: string,
  { terminal: { columns, paint, print } }: CommandContext,
): void {
  const last = stages.findIndex(({ says }) => says === 'denies');
  const met = last < 0 ? stages : stages.slice(0, last + 1);
  const rows = met.map(({ stage, says, why }) => [
    stage === decidedBy ? '→' : ' ',
    stage,
    says,
    // What the rules say stands above.
    stage === 'judge-call' && stage === decidedBy ? 'as above' : makeVisibleLine(why),
  ]);
  print('', paint('bold', 'What each gate says'), ...renderWrappedTable(rows, columns));
}

function showRules(
  { considered, tool }: Explained,
  all: boolean,
  { terminal: { columns, paint, print } }: CommandContext,
): void {
  const shown = considered.filter((rule) => all || rule.names_tool);
  const rows = [...shown.filter(({ matches }) => matches), ...shown.filter(({ matches }) => !matches)].map((rule) => [
    rule.decides ? '→' : ' ',
    placeOf({ ...rule, file: rule.file?.replace(/^.*\//, '') ?? '' }),
    rule.shadow === true ? `${rule.effect} (tried out)` : rule.effect,
    rule.matches ? 'matches' : makeVisibleLine(rule.why ?? ''),
  ]);
  print('', paint('bold', all ? 'Every rule' : `Rules about ${makeVisibleLine(tool)}`));
  print(...(rows.length === 0 ? ['  none'] : renderWrappedTable(rows, columns)));
  const others = considered.length - shown.length;
  if (others > 0) print(paint('dim', `${others} more are about other tools; --all shows them.`));
}

function placeOf({ rule_id: id, file, line }: Rule): string {
  return file === undefined || file === '' ? id : `${id} (${makeVisibleLine(file)}:${line ?? 1})`;
}
