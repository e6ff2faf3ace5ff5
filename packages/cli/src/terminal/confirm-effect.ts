import { Questions } from './questions.ts';
import type { Terminal } from './terminal.ts';
import { foldLines } from './text-width.ts';
import { makeVisible, makeVisibleLine } from './visible-text.ts';

/**
 * Shows a person what a call would do and asks. Only a plain yes is one: no answer, the end of input and everything
 * else mean no. Ctrl-C leaves the command.
 */
export function confirmEffect(effect: string, tool: string, terminal: Terminal): Promise<boolean> {
  return confirmRows(foldEffect(effect, terminal), tool, terminal);
}

/** The same for what is in rows already, each of which fits on a line. */
export async function confirmRows(rows: readonly string[], what: string, terminal: Terminal): Promise<boolean> {
  using questions = new Questions(terminal);
  terminal.print(`${terminal.paint('yellow', 'Needs your consent')}  ${makeVisibleLine(what)}`, '');
  if (!(await showPages(rows, questions, terminal))) return false;
  return await questions.agrees(`\n${terminal.paint('bold', 'Run it?')}`);
}

/**
 * Rows that each fit on one line, so that a page is a page. The text never reaches the first two columns: what stands
 * there, such as the mark of a line that goes on, is ours.
 */
export function foldEffect(effect: string, { columns, paint }: Pick<Terminal, 'columns' | 'paint'>): string[] {
  return makeVisible(effect.replace(/\n$/, ''))
    .split('\n')
    .flatMap((line) => {
      const tone = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : undefined;
      const rows = foldLines(line, columns - 2).map((row, at) => `${at === 0 ? '  ' : '↪ '}${row}`);
      return tone === undefined ? rows : rows.map((row) => paint(tone, row));
    });
}

/** Shows all rows, a page at a time. False when the person left before the end. */
export async function showPages(rows: readonly string[], questions: Questions, terminal: Terminal): Promise<boolean> {
  const pageRows = Math.max(5, terminal.rows - 6);
  for (let from = 0; ; from += pageRows) {
    terminal.print(...rows.slice(from, from + pageRows));
    const left = rows.length - from - pageRows;
    if (left <= 0) return true;
    const more = terminal.paint('dim', `-- ${left} more lines: Enter shows them, q runs nothing -- `);
    if (/^q/i.test((await questions.ask(more))?.trim() ?? 'q')) return false;
  }
}
