import { entryKinds } from './entry.ts';
import type { EntryFacts } from './entry.ts';
import { fields, termOf, termsOf, textOf } from './entry-terms.ts';
import type { Term } from './entry-terms.ts';
import { foldText, splitWords } from './split-words.ts';

/** What an entry has to be, all of it at once. */
export interface Filter {
  readonly terms: readonly Term[];
  /** Of each list one. */
  readonly anyOf: readonly (readonly Term[])[];
  readonly without: readonly Term[];
  /** Words of its text; one that ends in a star is the beginning of a word. */
  readonly words: readonly string[];
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/** The text is not a filter. The message says why, for a person. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

const longestFilter = 2000;
const mostParts = 50;
const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const part = /(-?)(?:([a-z]+):)?(?:"([^"]*)"|(\S*))(?:\s+|$)/gy;

/**
 * Reads `agent:scout status:denied,error -tool:git.* path:src since:2h some words`. Parts are joined by "and", values
 * between commas by "or". Housekeeping is left out unless a kind is named. Throws FilterError.
 */
export function parseFilter(text: string, nowMs: number): Filter {
  if (text.length > longestFilter) throw new FilterError(`A filter has at most ${longestFilter} characters.`);
  const [terms, without, words]: [Term[], Term[], string[]] = [[], [], []];
  const anyOf: Term[][] = [];
  const times: { sinceMs?: number; untilMs?: number } = {};
  let namesKind = false;
  const parts = readParts(text.trim());
  for (const { isNot, field, value } of parts) {
    if (field === undefined) {
      if (isNot) throw new FilterError('Only fields can be excluded, such as -tool:files.read.');
      words.push(...readWords(value));
    } else if (field === 'since' || field === 'until') {
      if (isNot) throw new FilterError(`${field} cannot be excluded.`);
      times[`${field}Ms`] = readTime(value, nowMs);
    } else {
      const values = readValues(field, value);
      namesKind ||= field === 'kind';
      if (isNot) without.push(...values);
      else if (values.length === 1) terms.push(...values);
      else anyOf.push(values);
    }
  }
  if (!namesKind) without.push(termOf('kind', 'housekeeping'));
  return { terms, anyOf, without, words, ...times };
}

/** Whether this entry is meant. */
export function matchesFilter(filter: Filter, facts: EntryFacts): boolean {
  const { sinceMs = -Infinity, untilMs = Infinity } = filter;
  if (facts.timeMs < sinceMs || facts.timeMs >= untilMs) return false;
  const terms = termsOf(facts);
  return (
    filter.terms.every((term) => terms.has(term)) &&
    filter.anyOf.every((list) => list.some((term) => terms.has(term))) &&
    !filter.without.some((term) => terms.has(term)) &&
    (filter.words.length === 0 || hasWords(splitWords(textOf(facts)), filter.words))
  );
}

function hasWords(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((each) => {
    const start = each.endsWith('*') ? each.slice(0, -1) : undefined;
    return start === undefined ? words.includes(each) : words.some((word) => word.startsWith(start));
  });
}

function readParts(text: string) {
  const parts: { isNot: boolean; field: string | undefined; value: string }[] = [];
  part.lastIndex = 0;
  while (part.lastIndex < text.length) {
    const from = part.lastIndex;
    const match = part.exec(text);
    if (match === null) throw new FilterError(`This part cannot be read: ${text.slice(from, from + 40)}`);
    const [, minus, field, quoted, plain = ''] = match;
    parts.push({ isNot: minus === '-', field, value: quoted ?? plain });
  }
  if (parts.length > mostParts) throw new FilterError(`A filter has at most ${mostParts} parts.`);
  return parts;
}

function readValues(field: string, value: string): Term[] {
  if (!(fields as readonly string[]).includes(field)) {
    throw new FilterError(`There is no field ${field}. Fields: ${[...fields, 'since', 'until'].join(', ')}.`);
  }
  const values = value.split(',').filter((each) => each !== '');
  if (values.length === 0) throw new FilterError(`${field} needs a value.`);
  const unknown =
    field === 'kind' ? values.find((each) => !(entryKinds as readonly string[]).includes(each)) : undefined;
  if (unknown !== undefined) throw new FilterError(`There is no kind ${unknown}. Kinds: ${entryKinds.join(', ')}.`);
  return values.map((each) => termOf(field, field === 'path' ? each.replace(/(?<=.)\/$/, '') : each));
}

function readWords(value: string): string[] {
  const words = foldText(value).match(/[\p{L}\p{N}\p{Co}]+\*?/gu);
  if (words === null) throw new FilterError(`There is no word in ${value}.`);
  return words;
}

/** A time of day, a date, or how long ago: 30s, 15m, 2h, 7d, 4w. */
function readTime(value: string, nowMs: number): number {
  const [, amount, unit] = /^(\d{1,6})([smhdw])$/.exec(value) ?? [];
  if (amount !== undefined) return nowMs - Number(amount) * unitsMs[unit as keyof typeof unitsMs];
  const timeMs = /^\d{4}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(timeMs)) throw new FilterError(`${value} is not a time. Write 2h, 7d or 2026-03-01T14:00.`);
  return timeMs;
}
