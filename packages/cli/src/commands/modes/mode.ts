import { spellCount } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderFields, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

interface Change {
  readonly from: string;
  readonly to: string;
  readonly by: string;
  readonly cause: string;
  readonly at: string;
}

interface ShownMode {
  readonly mode: string;
  readonly max_running: number;
  readonly calls_per_minute?: number;
  readonly leads_to: readonly string[];
  readonly last_change?: Change;
}

export function showMode(context: CommandContext): Promise<number> {
  return runOperatorTool('mode.show', {}, context, (shown: ShownMode) => {
    const { columns, paint, print } = context.terminal;
    const { last_change: last } = shown;
    print(paint('bold', makeVisibleLine(shown.mode)));
    const fields: [string, string][] = [
      [
        'at once',
        shown.max_running === 0 ? 'only what a rule names for this mode' : spellCount(shown.max_running, 'call'),
      ],
      ['a minute', shown.calls_per_minute === undefined ? 'any number' : spellCount(shown.calls_per_minute, 'call')],
      ['leads to', shown.leads_to.join(', ')],
      ['since', last === undefined ? '' : formatTime(Date.parse(last.at))],
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
  return runOperatorTool('mode.set', input, context, ({ from, to }: Change) => {
    context.terminal.print(
      `The mode is ${makeVisibleLine(to)} from the next call on. It was ${makeVisibleLine(from)}.`,
    );
  });
}

export function listModeChanges(limit: number, context: CommandContext): Promise<number> {
  return runOperatorTool('mode.history', { limit }, context, ({ changes }: { readonly changes: readonly Change[] }) => {
    const { columns, paint, print } = context.terminal;
    if (changes.length === 0) return print('The mode has not changed yet.');
    const rows = changes.map(({ from, to, by, cause, at }) =>
      [formatTime(Date.parse(at)), from, to, by, cause].map(makeVisibleLine),
    );
    const [header = '', ...body] = renderWrappedTable([['WHEN', 'FROM', 'TO', 'BY', 'CAUSE'], ...rows], columns);
    print(paint('dim', header), ...body);
  });
}
