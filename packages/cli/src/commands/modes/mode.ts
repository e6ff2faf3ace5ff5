import { spellCount } from '@sallyport/contract';
import type { InJson, ModeChange, ModeHistory, ModeReport } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderFields, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export function showMode(context: CommandContext): Promise<number> {
  return runOperatorTool('mode.show', {}, context, (shown: InJson<ModeReport>) => {
    const { columns, paint, print } = context.terminal;
    const { lastChange: last } = shown;
    print(paint('bold', makeVisibleLine(shown.mode)));
    const fields: [string, string][] = [
      [
        'at once',
        shown.maxRunning === 0 ? 'only what a rule names for this mode' : spellCount(shown.maxRunning, 'call'),
      ],
      ['a minute', shown.callsPerMinute === undefined ? 'any number' : spellCount(shown.callsPerMinute, 'call')],
      ['leads to', shown.leadsTo.join(', ')],
      ['since', last === undefined ? '' : formatTime(Number(last.changedAtMs))],
      ['by', last?.by ?? ''],
      ['cause', last?.cause ?? ''],
    ];
    print(
      ...renderFields(
        fields.map(([label, value]) => [label, makeVisibleLine(value)]),
        columns,
      ),
    );
  });
}

export function setMode(mode: string, cause: string, context: CommandContext): Promise<number> {
  const input = { mode: mode.toUpperCase(), cause };
  return runOperatorTool('mode.set', input, context, ({ from, to }: InJson<ModeChange>) => {
    context.terminal.print(
      `The mode is ${makeVisibleLine(to)} from the next call on. It was ${makeVisibleLine(from)}.`,
    );
  });
}

export function listModeChanges(limit: number, context: CommandContext): Promise<number> {
  return runOperatorTool('mode.history', { limit }, context, ({ changes }: InJson<ModeHistory>) => {
    const { columns, paint, print } = context.terminal;
    if (changes.length === 0) return print('The mode has not changed yet.');
    const rows = changes.map(({ from, to, by, cause, changedAtMs }) =>
      [formatTime(Number(changedAtMs)), from, to, by, cause].map(makeVisibleLine),
    );
    const [header = '', ...body] = renderWrappedTable([['WHEN', 'FROM', 'TO', 'BY', 'CAUSE'], ...rows], columns);
    print(paint('dim', header), ...body);
  });
}
