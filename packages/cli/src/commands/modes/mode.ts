import { spellCount } from '@sallyport/contract';
import type { InJson, ModeChange, ModeHistory, ModeReport } from '@sallyport/contract';
import { count, required, text, withDefault, word } from '../../command-table.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printFields, printTable, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** How much the gate lets through, and why. */
export const modeCommands = [
  operatorCommand('show', {
    help: 'show the mode, its limits and why it was set',
    tool: 'mode.show',
    print: (shown: InJson<ModeReport>, { terminal }) => {
      const { lastChange: last, maxRunning, callsPerMinute } = shown;
      terminal.print(terminal.paint('bold', makeVisibleLine(shown.mode)));
      printFields(terminal, [
        ['at once', maxRunning === 0 ? 'only what a rule names for this mode' : spellCount(maxRunning, 'call')],
        ['a minute', callsPerMinute === undefined ? 'any number' : spellCount(callsPerMinute, 'call')],
        ['leads to', shown.leadsTo.join(', ')],
        ['since', last === undefined ? '' : formatTime(Number(last.changedAtMs))],
        ['by', last?.by ?? ''],
        ['cause', last?.cause ?? ''],
      ]);
    },
  }),
  operatorCommand('set', {
    help: 'change the mode; LOCKDOWN stops running calls that change something',
    arguments: { mode: word('mode') },
    options: { cause: required(text('text', 'why; it is kept in the log')) },
    tool: 'mode.set',
    input: ({ mode, cause }) => ({ mode: mode.toUpperCase(), cause }),
    print: ({ from, to }: InJson<ModeChange>, { terminal }) =>
      terminal.print(`The mode is ${makeVisibleLine(to)} from the next call on. It was ${makeVisibleLine(from)}.`),
  }),
  operatorCommand('history', {
    help: 'list the changes of the mode, newest first',
    options: { lines: withDefault(count('how many', 'n'), 20) },
    tool: 'mode.history',
    input: ({ lines }) => ({ limit: lines }),
    print: ({ changes }: InJson<ModeHistory>, { terminal }) => {
      if (changes.length === 0) return terminal.print('The mode has not changed yet.');
      const rows = changes.map(({ from, to, by, cause, changedAtMs }) => [
        formatTime(Number(changedAtMs)),
        ...[from, to, by, cause],
      ]);
      printTable(terminal, ['WHEN', 'FROM', 'TO', 'BY', 'CAUSE'], rows, renderWrappedTable);
    },
  }),
];
