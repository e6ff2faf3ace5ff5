import type { OutputDescriptor } from './command-line.ts';
import { commandUnclear } from './command-unclear.ts';

export type Token =
  | { readonly kind: 'word'; readonly at: number; readonly word: Word }
  | { readonly kind: 'separator'; readonly at: number; readonly text: '|' | '&&' | '||' | ';' | '\n' }
  /** A redirection whose file is the next word. */
  | {
      readonly kind: 'redirect';
      readonly at: number;
      readonly descriptor: 0 | OutputDescriptor;
      readonly append: boolean;
    }
  | {
      readonly kind: 'merge';
      readonly at: number;
      readonly descriptor: OutputDescriptor;
      readonly like: OutputDescriptor;
    };

export interface Word {
  readonly value: string;
  /** Whether some of it was quoted or escaped, so that it is no keyword, number or assignment. */
  readonly quoted: boolean;
  /** Whether it has an `=` that is not quoted. */
  readonly assigns: boolean;
}

/** What would mean something to some shell, and what it would mean. */
const active: Readonly<Record<string, string>> = {
  $: 'an expansion ($)',
  '`': 'a command substitution (`)',
  '*': 'a pattern for file names (*)',
  '?': 'a pattern for file names (?)',
  '[': 'a pattern for file names ([)',
  '{': 'a brace ({)',
  '}': 'a brace (})',
  '(': 'a subshell or function (()',
  ')': 'a subshell or function ())',
  '!': 'a negation or history reference (!)',
};

const invisible = /[\p{Z}\p{C}]/u;
const escapableInQuotes = new Set(['$', '`', '"', '\\']);

/** Cuts a command line into tokens. Throws ToolRefused for everything that is not plain words and plain operators. */
export function readTokens(text: string): readonly Token[] {
  return new TokenReader(text).read();
}

class TokenReader {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  /** The word that is being read. Undefined: none has begun. */
  #word: { value: string; quoted: boolean; assigns: boolean; continued: boolean; readonly at: number } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): readonly Token[] {
    while (this.#at < this.#text.length) this.#readNext();
    this.#endWord();
    return this.#tokens;
  }

  #readNext(): void {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    switch (character) {
      case ' ':
      case '\t':
        this.#endWord();
        this.#at++;
        return;
      case '\n':
      case ';':
        return this.#separate(character);
      case '|':
        return this.#separate(this.#next() === '|' ? '||' : '|');
      case '&':
        if (this.#next() === '&') return this.#separate('&&');
        throw commandUnclear('a program in the background (&)', this.#at);
      case '<':
      case '>':
        return this.#readRedirection(character);
      case "'":
        return this.#readSingleQuotes();
      case '"':
        return this.#readDoubleQuotes();
      case '\\':
        return this.#readEscape();
      default:
        return this.#readPlain(character);
    }
  }

  #readPlain(character: string): void {
    const meaning = active[character];
    if (meaning !== undefined) throw commandUnclear(meaning, this.#at);
    if (character === '#' && this.#word === undefined) throw commandUnclear('a comment (#)', this.#at);
    if (character === '~' && /^$|[=:]$/.test(this.#word?.value ?? '')) {
      throw commandUnclear('a home folder (~)', this.#at);
    }
    if (invisible.test(character)) throw commandUnclear('an invisible character outside quotes', this.#at);
    this.#add(character, { quoted: false });
    this.#at += character.length;
  }

  #readEscape(): void {
    const next = this.#next();
    if (next === undefined) throw commandUnclear('a backslash at its end', this.#at);
    if (next === '\n') {
      // A line that goes on is no character and starts no word.
      if (this.#word !== undefined) this.#word.continued = true;
      this.#at += 2;
      return;
    }
    const escaped = String.fromCodePoint(this.#text.codePointAt(this.#at + 1) ?? 0);
    if (escaped !== ' ' && invisible.test(escaped)) {
      throw commandUnclear('an invisible character outside quotes', this.#at + 1);
    }
    this.#add(escaped, { quoted: true });
    this.#at += 1 + escaped.length;
  }

  #readSingleQuotes(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) throw commandUnclear("a quote (') that does not end", this.#at);
    this.#add(this.#text.slice(this.#at + 1, end), { quoted: true });
    this.#at = end + 1;
  }

  #readDoubleQuotes(): void {
    const begin = this.#at;
    this.#add('', { quoted: true });
    for (this.#at++; ; this.#at++) {
      const character = this.#text[this.#at];
      if (character === undefined) throw commandUnclear('a quote (") that does not end', begin);
      if (character === '"') break;
      if (character === '$' || character === '`') throw commandUnclear(active[character] ?? '', this.#at);
      const next = this.#next();
      if (character !== '\\' || next === undefined) {
        this.#add(character, { quoted: true });
      } else if (next === '\n') {
        this.#at++;
      } else if (escapableInQuotes.has(next)) {
        this.#add(next, { quoted: true });
        this.#at++;
      } else {
        this.#add('\\', { quoted: true });
      }
    }
    this.#at++;
  }

  #readRedirection(sign: '<' | '>'): void {
    const at = this.#at;
    const descriptor = this.#takeDescriptor(sign);
    const rest = this.#text.slice(at, at + 4);
    if (sign === '<') {
      if (/^<[<&>]/.test(rest)) throw commandUnclear('a here-document or duplicated input (<)', at);
      this.#at++;
      this.#tokens.push({ kind: 'redirect', at, descriptor, append: false });
      return;
    }
    if (rest.startsWith('>|')) throw commandUnclear('a forced redirection (>|)', at);
    if (rest.startsWith('>&')) {
      const like = /^>&([12])(?:[ \t\n;|&]|$)/.exec(rest)?.[1];
      if (like === undefined) throw commandUnclear('a redirection to something other than 1 or 2 (>&)', at);
      this.#at += 3;
      this.#tokens.push({ kind: 'merge', at, descriptor: asOutput(descriptor), like: like === '1' ? 1 : 2 });
      return;
    }
    const append = rest.startsWith('>>');
    this.#at += append ? 2 : 1;
    this.#tokens.push({ kind: 'redirect', at, descriptor, append });
  }

  /** Digits right before the sign are no word but say which descriptor is meant. Shells disagree on longer numbers. */
  #takeDescriptor(sign: '<' | '>'): 0 | OutputDescriptor {
    const word = this.#word;
    if (word === undefined || word.quoted || !/^[0-9]+$/.test(word.value)) {
      this.#endWord();
      return sign === '<' ? 0 : 1;
    }
    const known = sign === '<' ? ['0'] : ['1', '2'];
    if (word.continued || !known.includes(word.value)) {
      throw commandUnclear('a redirection of a descriptor other than 0, 1 and 2', word.at);
    }
    this.#word = undefined;
    return word.value === '0' ? 0 : word.value === '1' ? 1 : 2;
  }

  #separate(text: Extract<Token, { kind: 'separator' }>['text']): void {
    this.#endWord();
    this.#tokens.push({ kind: 'separator', at: this.#at, text });
    this.#at += text.length;
  }

  #add(text: string, { quoted }: { readonly quoted: boolean }): void {
    this.#word ??= { value: '', quoted: false, assigns: false, continued: false, at: this.#at };
    this.#word.value += text;
    this.#word.quoted ||= quoted;
    this.#word.assigns ||= !quoted && text === '=';
  }

  #endWord(): void {
    if (this.#word === undefined) return;
    const { at, value, quoted, assigns } = this.#word;
    this.#tokens.push({ kind: 'word', at, word: { value, quoted, assigns } });
    this.#word = undefined;
  }

  #next(): string | undefined {
    return this.#text[this.#at + 1];
  }
}

function asOutput(descriptor: 0 | OutputDescriptor): OutputDescriptor {
  return descriptor === 2 ? 2 : 1;
}
