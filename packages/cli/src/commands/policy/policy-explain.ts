import type { Explanation, InJson, RuleReference } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { command, flag, text, word, words } from '../../command-table.ts';
import type { Given } from '../../command-table.ts';
import { readInputFor } from '../../terminal/read-input.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderFields, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

const explainArguments = { tool: word('tool'), pairs: words('name=value') };
const explainOptions = {
  input: text('json', 'the arguments as JSON'),
  agent: text('name', 'who would call; roles and permissions are those of the organisation'),
  as: text('kind', 'agent or operator'),
  session: text('id', 'a session that would call: its agent, folder and lease'),
  mode: text('mode', 'explain it in this mode instead of the current one'),
  files: flag('use the files as they are now, not the rules in force'),
  all: flag('show the rules about other tools too'),
};

export const explainCommand = command('explain', {
  help: 'show what each gate says about a call, which rule decides, and why the others do not',
  arguments: explainArguments,
  options: explainOptions,
  run: explainPolicy,
});

async function explainPolicy(
  {
    tool,
    agent,
    as,
    session,
    mode,
    files,
    all = false,
    ...given
  }: Given<typeof explainArguments, typeof explainOptions>,
  context: CommandContext,
): Promise<number> {
  const asked = {
    tool,
    arguments: JSON.parse((await readInputFor(tool, given, context)) || '{}') as object,
    agent,
    principal: as,
    session,
    mode: mode?.toUpperCase(),
    rules: files === true ? 'files' : undefined,
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
