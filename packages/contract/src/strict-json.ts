import { canonicalNumber } from './canonical-json.ts';
import type { Json } from './canonical-json.ts';

/** Why a text is not accepted as JSON: what is wrong, and at which character. */
export class StrictJsonError extends Error {
  readonly position: number;

  constructor(reason: string, position: number) {
    super(`${reason} at character ${position}`);
    this.name = 'StrictJsonError';
    this.position = position;
  }
}

const maxDepth = 64;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plainString = /[^"\\\u0000-\u001f]*/y;

/**
 * Reads JSON as `JSON.parse` does, but refuses what two readers could understand differently: repeated keys, numbers
 * that a double cannot hold, lone surrogates, and nesting beyond 64 levels. `__proto__` is an ordinary key.
 */
export function parseStrictJson(text: string): Json {
  return new Reader(text).readDocument();
}

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): Json {
    const value = this.#readValue();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail('unexpected text after the value');
    return value;
  }

  #readValue(): Json {
    this.#skipSpace();
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#nested(() => this.#readObject());
      case 0x5b:
        return this.#nested(() => this.#readArray());
      case 0x22:
        return this.#readString();
      case 0x74:
        return this.#readWord('true', true);
      case 0x66:
        return this.#readWord('false', false);
      case 0x6e:
        return this.#readWord('null', null);
      default:
        return this.#readNumber();
    }
  }

  #nested<T extends Json>(read: () => T): T {
    if (++this.#depth > maxDepth) this.#fail(`nested deeper than ${maxDepth} levels`);
    this.#at++;
    const value = read();
    this.#depth--;
    return value;
  }

  #readObject(): Json {
    const entries: Record<string, Json> = Object.create(null);
    if (this.#consume('}')) return entries;
    do {
      this.#skipSpace();
      const keyAt = this.#at;
      if (this.#text[keyAt] !== '"') this.#fail('expected a key in double quotes');
      const key = this.#readString();
      if (key in entries) {
        this.#at = keyAt;
        this.#fail(`the key ${JSON.stringify(key.slice(0, 80))} stands twice`);
      }
      if (!this.#consume(':')) this.#fail('expected ":"');
      entries[key] = this.#readValue();
    } while (this.#consume(','));
    if (!this.#consume('}')) this.#fail('expected "," or "}"');
    return entries;
  }

  #readArray(): Json[] {
    const items: Json[] = [];
    if (this.#consume(']')) return items;
    do items.push(this.#readValue());
    while (this.#consume(','));
    if (!this.#consume(']')) this.#fail('expected "," or "]"');
    return items;
  }

  #readString(): string {
    const start = this.#at;
    let at = start + 1;
    let escaped = false;
    for (;;) {
      plainString.lastIndex = at;
      plainString.exec(this.#text);
      at = plainString.lastIndex;
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) break;
      if (code !== 0x5c) {
        this.#at = at;
        this.#fail(at >= this.#text.length ? 'the string does not end' : 'control character in a string');
      }
      escaped = true;
      at += 2;
    }
    this.#at = at + 1;
    const value = escaped ? this.#unescape(start, at + 1) : this.#text.slice(start + 1, at);
    if (!value.isWellFormed()) {
      this.#at = start;
      this.#fail('the string holds half of a surrogate pair');
    }
    return value;
  }

  #unescape(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end)) as string;
    } catch {
      this.#at = start;
      this.#fail('the string holds an unknown escape');
    }
  }

  #readNumber(): number {
    numberPattern.lastIndex = this.#at;
    const literal = numberPattern.exec(this.#text)?.[0];
    if (literal === undefined) {
      this.#fail(this.#at >= this.#text.length ? 'the text ends too early' : 'unexpected character');
    }
    const value = Number(literal);
    if (!Number.isFinite(value) || decimalOf(literal) !== decimalOf(canonicalNumber(value))) {
      this.#fail(`the number ${literal.slice(0, 40)} would lose precision; send it as a string`);
    }
    this.#at += literal.length;
    return value;
  }

  #readWord<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('unexpected character');
    this.#at += word.length;
    return value;
  }

  #consume(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #fail(reason: string): never {
    throw new StrictJsonError(reason, this.#at);
  }
}

/** The value of a decimal literal in one spelling: sign, digits without outer zeros, exponent of the last digit. */
function decimalOf(literal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (!match) return literal;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const scale = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign}${significant}e${scale}`;
}
