import type { Terminal } from './terminal.ts';
import { padText, textWidth, truncateText, wrapWords } from './text-width.ts';
import { makeVisibleLine } from './visible-text.ts';

const gap = 2;
const leastRoom = 24;
const stackedIndent = '      ';

/** Rows of cells under each other. The last column takes what is left of the line, and is cut there. */
export function renderTable(rows: readonly (readonly string[])[], columns: number): string[] {
  const widths = measureColumns(rows);
  return rows.map((row) => {
    const start = padCells(row, widths);
    return `${start}${truncateText(row.at(-1) ?? '', Math.max(columns - textWidth(start), 8))}`.trimEnd();
  });
}

/** The same, with the last column wrapped beside the others instead of cut, or below them where it has no room. */
export function renderWrappedTable(rows: readonly (readonly string[])[], columns: number): string[] {
  const measured = measureColumns(rows);
  const isCrowded = measured.slice(0, -1).reduce((sum, each) => sum + each + gap, 0) > columns;
  return rows.flatMap((row) => {
    // Where not even they have room, they are not aligned.
    const start = padCells(row, isCrowded ? row.map(textWidth) : measured);
    const last = row.at(-1) ?? '';
    const room = columns - textWidth(start);
    if (isCrowded || room < Math.min(textWidth(last), Math.max(leastRoom, longestWord(last))))
      return renderStacked(start, last, columns);
    return wrapWords(last, Math.max(room, 1)).map((line, at) =>
      `${at === 0 ? start : padText('', textWidth(start))}${line}`.trimEnd(),
    );
  });
}

/** Where the columns leave no room for the last one, it goes below them. */
function renderStacked(start: string, last: string, columns: number): string[] {
  const head = start.trimEnd();
  const indented = (text: string): string[] =>
    wrapWords(text, columns - stackedIndent.length).map((line) => `${stackedIndent}${line}`);
  if (textWidth(head) <= columns) return [head, ...(last === '' ? [] : indented(last))];
  const [, margin = '', words = ''] = /^(\s*)(.*)$/.exec(head) ?? [];
  const [first = '', ...others] = wrapWords(words, columns - stackedIndent.length);
  return [
    `${margin}${first}`,
    ...others.map((line) => `${stackedIndent}${line}`),
    ...(last === '' ? [] : indented(last)),
  ];
}

function longestWord(text: string): number {
  return Math.max(...text.split(/\s+/).map(textWidth));
}

/** Leaves out columns, by their headings in this order, until the lines are short enough. */
export function fitColumns(
  rows: readonly (readonly string[])[],
  columns: number,
  spare: readonly string[],
): readonly (readonly string[])[] {
  const [next, ...others] = spare;
  const at = next === undefined ? -1 : (rows[0]?.indexOf(next) ?? -1);
  const width = measureColumns(rows).reduce((sum, each) => sum + each + gap, -gap);
  if (width <= columns || at === -1) return rows;
  return fitColumns(
    rows.map((row) => row.toSpliced(at, 1)),
    columns,
    others,
  );
}

function measureColumns(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, textWidth(cell));
  }
  return widths;
}

/** All cells but the last, which starts where this ends. */
function padCells(row: readonly string[], widths: readonly number[]): string {
  return row
    .slice(0, -1)
    .map((cell, at) => padText(cell, (widths[at] ?? 0) + gap))
    .join('');
}

/** Labels and their values; values are wrapped beside the label. Pairs with an empty value are left out. */
export function renderFields(
  fields: readonly (readonly [label: string, value: string])[],
  columns: number,
  indent = '  ',
): string[] {
  const present = fields.filter(([, value]) => value !== '');
  const labelWidth = Math.max(0, ...present.map(([label]) => textWidth(label))) + gap;
  const room = Math.max(columns - indent.length - labelWidth, 20);
  return present.flatMap(([label, value]) =>
    value
      .split('\n')
      .flatMap((line) => wrapWords(line, room))
      .map((line, at) => `${indent}${padText(at === 0 ? label : '', labelWidth)}${line}`.trimEnd()),
  );
}

type Printer = Pick<Terminal, 'columns' | 'paint' | 'print'>;

/** Prints rows from anywhere under a heading. */
export function printTable(
  { columns, paint, print }: Printer,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  render = renderTable,
): void {
  const [first = '', ...body] = render([header, ...rows.map((row) => row.map(makeVisibleLine))], columns);
  print(paint('dim', first), ...body);
}

/** Prints labels and values from anywhere. */
export function printFields(
  { columns, print }: Pick<Printer, 'columns' | 'print'>,
  fields: readonly (readonly [label: string, value: string])[],
): void {
  const visible = fields.map(([label, value]) => [label, makeVisibleLine(value)] as const);
  print(...renderFields(visible, columns));
}
