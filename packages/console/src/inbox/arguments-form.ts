import { readJson } from '../text/format.ts';

/** The arguments of a call as fields to read, and what else its effect says. */
export interface ArgumentsForm {
  readonly value: Readonly<Record<string, unknown>>;
  readonly rest: string;
}

const label = 'arguments: ';
/** A field is seen as a whole or not at all: one that is longer is read row by row instead. */
const longestField = 600;
const mostLines = 10;

/**
 * What is sent to a server stands in its effect as one line of JSON, which hardly anybody reads. Where a form says exactly
 * the same, it takes the place of that line. Undefined: it does not, because something is masked, cut off or long.
 */
export function readForm(effect: string, argumentsJson: string, isMasked: boolean): ArgumentsForm | undefined {
  if (isMasked || !effect.startsWith(label)) return undefined;
  const [line = '', ...others] = effect.slice(label.length).split('\n');
  const value = readJson(line);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (spell(value) !== spell(readJson(argumentsJson))) return undefined;
  if (!Object.entries(value).every(([name, field]) => isShort(name) && isShort(field))) return undefined;
  return { value: value as ArgumentsForm['value'], rest: others.join('\n') };
}

function isShort(field: unknown): boolean {
  const text = typeof field === 'string' ? field : JSON.stringify(field, null, 2);
  return text.length <= longestField && text.split('\n').length <= mostLines;
}

/** The same for the same members in another order. */
function spell(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spell).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${spell(member)}`).join()}}`;
}
