import type { CredentialPattern } from './credentials/credential-pattern.ts';
import { credentialPatterns } from './credentials/index.ts';
import { LiteralStarts, startLength } from './literal-starts.ts';
import { looksSecret } from './looks-secret.ts';
import type { Span } from './span.ts';

interface CompiledPattern {
  /** Matches at one place only, where a keyword was found. */
  readonly expression: RegExp;
  readonly apart: boolean;
  readonly guess: boolean;
}

interface Keyword {
  /** In small letters. */
  readonly text: string;
  readonly patterns: readonly CompiledPattern[];
}

const none: readonly Span[] = [];

/** Finds what has the shape of a well-known credential. */
export class CredentialFinder {
  readonly #starts = new LiteralStarts();
  /** By their first characters, the longest first. */
  readonly #keywords = new Map<string, Keyword[]>();

  constructor(patterns: readonly CredentialPattern[] = credentialPatterns) {
    const compiled = patterns.map((pattern) => {
      return { compiled: compilePattern(pattern), begins: pattern.keywords.map((keyword) => keyword.toLowerCase()) };
    });
    const texts = new Set(compiled.flatMap(({ begins }) => begins));
    for (const text of [...texts].sort((a, b) => b.length - a.length)) {
      // Only the longest keyword at a place is looked up, so it speaks for those that it begins with.
      const fitting = compiled.filter(({ begins }) => begins.some((other) => text.startsWith(other)));
      const start = text.slice(0, startLength);
      const keyword = { text, patterns: fitting.map((pattern) => pattern.compiled) };
      this.#keywords.set(start, [...(this.#keywords.get(start) ?? []), keyword]);
      this.#starts.add(start);
    }
  }

  find(text: string): readonly Span[] {
    let spans: Span[] | undefined;
    for (let at = this.#starts.next(text, 0); at !== -1;) {
      const span = widestAt(text, at, this.#patternsAt(text, at));
      if (span !== undefined) (spans ??= []).push(span);
      at = this.#starts.next(text, Math.max(at + 1, span?.end ?? 0));
    }
    return spans ?? none;
  }

  #patternsAt(text: string, at: number): readonly CompiledPattern[] {
    const alike = this.#keywords.get(text.slice(at, at + startLength).toLowerCase());
    return alike?.find((keyword) => standsAt(text, at, keyword.text))?.patterns ?? [];
  }
}

function standsAt(text: string, at: number, keyword: string): boolean {
  return text.slice(at, at + keyword.length).toLowerCase() === keyword;
}

function compilePattern({ keywords, before, pattern, anyCase, apart, guess }: CredentialPattern): CompiledPattern {
  const longestFirst = [...keywords].sort((a, b) => b.length - a.length);
  const start = before === undefined ? '' : `(?<=(?<before>${before}))`;
  const source = `${start}(?:${longestFirst.map((keyword) => RegExp.escape(keyword)).join('|')})${pattern}`;
  return { expression: new RegExp(source, anyCase ? 'iy' : 'y'), apart: apart === true, guess: guess === true };
}

function widestAt(text: string, at: number, patterns: readonly CompiledPattern[]): Span | undefined {
  let widest: Span | undefined;
  for (const { expression, apart, guess } of patterns) {
    if (apart && !standsApart(text, at)) continue;
    expression.lastIndex = at;
    const match = expression.exec(text);
    if (match === null) continue;
    const end = expression.lastIndex;
    const { secret, before = '' } = match.groups ?? {};
    const start = secret === undefined ? at - before.length : end - secret.length;
    if (guess && !looksSecret(text, start, end)) continue;
    widest = { start: Math.min(start, widest?.start ?? start), end: Math.max(end, widest?.end ?? end) };
  }
  return widest;
}

const wordCharacter = /[A-Za-z0-9_-]/;
const endOfEscape = /(?:\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,7}m)$/;

/** Whether a word begins here. The letters of an escape, such as the n of \n, belong to no word. */
function standsApart(text: string, at: number): boolean {
  if (at === 0 || !wordCharacter.test(text.charAt(at - 1))) return true;
  return endOfEscape.test(text.slice(Math.max(0, at - 10), at));
}
