import { createInterface } from 'node:readline/promises';
import { interrupted } from './failure.ts';
import type { Terminal } from './terminal.ts';
import { foldLines } from './text-width.ts';
import { makeVisible, makeVisibleLine } from './visible-text.ts';

type Ask = (question: string) => Promise<string>;

/**
 * Shows a person what a call would do and asks. Only a plain yes is one: no answer, the end of input and everything
 * else mean no. Ctrl-C leaves the command.
 */
export async function confirmEffect(effect: string, tool: string, terminal: Terminal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const leave = new AbortController();
  lines.on('SIGINT', () => leave.abort());
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const onEnd = (): void => {
    terminal.print('');
    end('q');
  };
  lines.once('close', onEnd);
  const ask: Ask = (question) => Promise.race([lines.question(question, { signal: leave.signal }), ended]);
  try {
    terminal.print(`${terminal.paint('yellow', 'Needs your consent')}  ${makeVisibleLine(tool)}`, '');
    if (!(await showPages(foldEffect(effect, terminal), terminal, ask))) return false;
    return /^(y|yes)$/i.test((await ask(`\n${terminal.paint('bold', 'Run it?')} [y/N] `)).trim());
  } catch (error) {
    if (leave.signal.aborted) throw interrupted();
    throw error;
  } finally {
    lines.off('close', onEnd);
    lines.close();
  }
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

async function showPages(rows: readonly string[], terminal: Terminal, ask: Ask): Promise<boolean> {
  const pageRows = Math.max(5, terminal.rows - 6);
  for (let from = 0; ; from += pageRows) {
    terminal.print(...rows.slice(from, from + pageRows));
    const left = rows.length - from - pageRows;
    if (left <= 0) return true;
    const answer = await ask(terminal.paint('dim', `-- ${left} more lines: Enter shows them, q runs nothing -- `));
    if (/^q/i.test(answer.trim())) return false;
  }
}
