import { renderFields, renderTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import { textWidth } from './text-width.ts';
import { makeVisibleLine, visibleJson } from './visible-text.ts';

type Fields = Readonly<Record<string, unknown>>;

const mostTableColumns = 8;
const mostCellCharacters = 60;
const mostNumbersInLine = 8;
const deepest = 4;
const indent = '  ';

/**
 * What a tool returned, for a person: single values beside their names, lists of like things as tables where those fit
 * and one below the other where not, groups of values indented below their name, rows of a database under the names of
 * their columns, long text as it is. Anything else stays JSON. All of it is text from outside.
 */
export function renderOutput(output: unknown, terminal: Terminal): string[] {
  if (typeof output === 'string') return renderText(output, terminal);
  return isFields(output) ? renderGroup(output, terminal, 0) : [visibleJson(output, 2)];
}

function renderGroup(output: Fields, terminal: Terminal, depth: number): string[] {
  const entries = Object.entries(nameColumns(output));
  if (entries.length === 0) return ['(nothing)'];
  const short = entries.filter(([, value]) => isShort(value));
  const lines = renderFields(
    short.map(([name, value]) => [makeVisibleLine(name), spellShort(value)]),
    terminal.columns - indent.length * depth,
    '',
  );
  for (const [name, value] of entries) {
    if (isShort(value)) continue;
    if (lines.length > 0 && depth === 0) lines.push('');
    const isAlone = entries.length === 1 && depth === 0 && !isFields(value);
    if (!isAlone) lines.push(terminal.paint('dim', `${makeVisibleLine(name)}:`));
    lines.push(...renderLong(value, terminal, depth));
  }
  return lines;
}

function renderLong(value: unknown, terminal: Terminal, depth: number): string[] {
  if (typeof value === 'string') return renderText(value, terminal);
  if (isFields(value) && depth < deepest) return renderGroup(value, terminal, depth + 1).map(indentLines);
  if (!Array.isArray(value)) return [visibleJson(value, 2)];
  if (value.length === 0) return ['(none)'];
  if (value.every((item) => typeof item === 'string')) return value.map(makeVisibleLine);
  return renderRows(value, terminal, depth) ?? renderItems(value, terminal, depth) ?? [visibleJson(value, 2)];
}

/** Undefined when the items are not groups of values. */
function renderItems(items: readonly unknown[], terminal: Terminal, depth: number): string[] | undefined {
  if (depth >= deepest || !items.every(isFields)) return undefined;
  return items.flatMap((item, at) => {
    const lines = renderGroup(item, terminal, depth + 1).map(indentLines);
    return at === 0 ? lines : ['', ...lines];
  });
}

/** Rows of cells become like things, where there is a list that says what each column is called. */
function nameColumns(output: Fields): Fields {
  const { columns, rows, ...rest } = output;
  if (!Array.isArray(columns) || !Array.isArray(rows) || rows.length === 0) return output;
  const names = columns.map((column) => (isFields(column) ? column['name'] : undefined));
  const isNamed = names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
  if (!isNamed || !rows.every((row) => Array.isArray(row) && row.length === names.length)) return output;
  const named = rows.map((row) => Object.fromEntries(names.map((name, at) => [name, (row as unknown[])[at]])));
  return { ...rest, rows: named };
}

function indentLines(text: string): string {
  return text.replaceAll(/^/gm, indent);
}

/** Undefined when the items are not alike enough for a table, or when it would be wider than the terminal. */
function renderRows(items: readonly unknown[], terminal: Terminal, depth: number): string[] | undefined {
  if (!items.every((item) => isFields(item) && Object.values(item).every(isShort))) return undefined;
  const rows = items as readonly Fields[];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (names.length > mostTableColumns) return undefined;
  const cells = rows.map((row) => names.map((name) => (name in row ? spellShort(row[name]) : '')));
  const room = terminal.columns - indent.length * depth;
  const [header = '', ...body] = renderTable([names.map(makeVisibleLine), ...cells], room);
  // The last column is cut, but not to nothing.
  if ([header, ...body].some((line) => textWidth(line) > room)) return undefined;
  return [terminal.paint('dim', header), ...body];
}

function renderText(text: string, terminal: Terminal): string[] {
  return [terminal.untrusted(text.replace(/\n$/, ''))];
}

function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= mostCellCharacters * 4 && !value.includes('\n');
  if (Array.isArray(value)) return isNumbers(value);
  return typeof value !== 'object' || value === null;
}

function isNumbers(value: readonly unknown[]): boolean {
  return value.length > 0 && value.length <= mostNumbersInLine && value.every((item) => typeof item === 'number');
}

function spellShort(value: unknown): string {
  if (value === '') return '""';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? makeVisibleLine(value) : String(value);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
