import { attempt } from '@sallyport/contract';
import { describeArguments } from './describe-schema.ts';
import type { ArgumentRow } from './describe-schema.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Schema = Readonly<Record<string, unknown>>;

/** Undefined at the end of input. */
export type Ask = (question: string) => Promise<string | undefined>;

/** Leaves an argument out that was given before. */
const leaveOut = '-';

/**
 * A form on the terminal: one question for each argument that the schema names, those that are required first. What was
 * given before is offered again. Undefined when the person left. The gate judges the values; here they only have to
 * read as what they are.
 */
export async function askArguments(
  schema: Schema,
  before: Arguments,
  ask: Ask,
  terminal: Pick<Terminal, 'print' | 'paint'>,
): Promise<Arguments | undefined> {
  const rows = describeArguments(schema).filter(({ name }) => isOwnProperty(schema, name));
  if (rows.length === 0) return askObject(before, ask, terminal);
  rows.sort((a, b) => Number(b.need === 'required') - Number(a.need === 'required'));
  terminal.print(terminal.paint('dim', `Enter keeps the value in brackets; ${leaveOut} leaves an argument out.`));
  const given: Record<string, unknown> = {};
  for (const row of rows) {
    const value = await askValue(row, before[row.name], ask, terminal);
    if (value === undefined) return undefined;
    if ('value' in value) given[row.name] = value.value;
  }
  return given;
}

function isOwnProperty({ properties }: Schema, name: string): boolean {
  return typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name);
}

type Given = { readonly value: unknown } | Record<string, never>;

async function askValue(
  row: ArgumentRow,
  before: unknown,
  ask: Ask,
  terminal: Pick<Terminal, 'print' | 'paint'>,
): Promise<Given | undefined> {
  const { name, type, need, description } = row;
  const facts = [type, need].filter((fact) => fact !== '').join(', ');
  if (description !== '') terminal.print(terminal.paint('dim', `  ${makeVisibleLine(description)}`));
  const offered = before === undefined ? '' : ` [${makeVisibleLine(spell(before, type))}]`;
  for (;;) {
    const typed = await ask(`  ${makeVisibleLine(name)} (${makeVisibleLine(facts)})${offered}: `);
    if (typed === undefined) return undefined;
    if (typed.trim() === leaveOut && need !== 'required') return {};
    if (typed === '' && before !== undefined) return { value: before };
    if (typed === '' && need !== 'required') return {};
    const given = readValue(typed, type);
    if (given !== undefined) return given;
    terminal.print(terminal.paint('yellow', `  ${explainType(type)}`));
  }
}

/** Undefined: it does not read as a value of this type. */
export function readValue(typed: string, type: string): { readonly value: unknown } | undefined {
  const parsed = parseJson(typed);
  const types = type.split(' | ');
  // Quotes are needed only where a text would be nothing, or look like something else.
  if (types.includes('string'))
    return typed === '' ? undefined : typeof parsed?.value === 'string' ? parsed : { value: typed };
  if (parsed !== undefined)
    return type === 'any' || types.every((each) => !isMisfit(each, parsed.value)) ? parsed : undefined;
  const choice = types.find((each) => each === JSON.stringify(typed));
  if (choice !== undefined) return { value: typed };
  return type === 'any' && typed !== '' ? { value: typed } : undefined;
}

function isMisfit(type: string, value: unknown): boolean {
  if (type === 'integer') return !Number.isInteger(value);
  if (type === 'number' || type === 'boolean') return typeof value !== type;
  if (type === 'object') return typeof value !== 'object' || value === null || Array.isArray(value);
  return type.endsWith('[]') && !Array.isArray(value);
}

function explainType(type: string): string {
  if (type === 'string' || type === 'any') return 'It is required. Type "" for an empty text.';
  if (type === 'object' || type.endsWith('[]')) return 'Type it as JSON.';
  return `It must be ${makeVisibleLine(type)}.`;
}

/** For a tool that does not say which arguments it takes. */
async function askObject(
  before: Arguments,
  ask: Ask,
  terminal: Pick<Terminal, 'print' | 'paint'>,
): Promise<Arguments | undefined> {
  for (;;) {
    const typed = await ask(`  arguments as JSON [${makeVisibleLine(JSON.stringify(before))}]: `);
    if (typed === undefined) return undefined;
    if (typed.trim() === '') return before;
    const value = parseJson(typed)?.value;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Arguments;
    terminal.print(terminal.paint('yellow', '  It must be one JSON object, such as {"key": "value"}.'));
  }
}

function spell(value: unknown, type: string): string {
  return typeof value === 'string' && type === 'string' && value !== '' ? value : JSON.stringify(value);
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  return attempt(() => ({ value: JSON.parse(text) as unknown }));
}
