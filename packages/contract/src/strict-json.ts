import { BareObject, canonicalNumber } from './canonical-json.ts';
import type { Json } from './canonical-json.ts';
import { wholeText } from './whole-text.ts';

/** Why a text is not accepted as JSON: what is wrong, and at which character. */
export class StrictJsonError extends Error {
  readonly reason: string;
  readonly position: number;

  constructor(reason: string, position: number) {
    super(`${reason} at character ${position}`);
    this.name = 'StrictJsonError';
    this.reason = reason;
    this.position = position;
  }
}

const maxDepth = 64;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const needsCare = /[\\\u0000-\u001f]/;

/**
 * Reads JSON as `JSON.parse` does, but refuses what two readers could understand differently: repeated keys, numbers
 * that a double cannot hold, lone surrogates, and nesting beyond 64 levels. `__proto__` is an ordinary key.
 * The time it takes grows linearly with the text, whatever the text is.
 */
export function parseStrictJson(text: string): Json {
  return new Reader(text).readDocument();
}

class Reader {
  readonly #text: string;
  readonly #isWellFormed: boolean;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    // One look at the whole text spares one for every string.
    this.#isWellFormed = text.isWellFormed();
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
        return this.#readObject();
      case 0x5b:
        return this.#readArray();
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

  #readObject(): Json {
    this.#descend();
    const entries = new BareObject();
    if (!this.#consume(0x7d)) {
      do {
        this.#skipSpace();
        const keyAt = this.#at;
        if (this.#text.charCodeAt(keyAt) !== 0x22) this.#fail('expected a key in double quotes');
        const key = this.#readString();
        if (key in entries) {
          this.#at = keyAt;
          this.#fail(`the key ${JSON.stringify(wholeText(key))} stands twice`);
        }
        if (!this.#consume(0x3a)) this.#fail('expected ":"');
        entries[key] = this.#readValue();
      } while (this.#consume(0x2c));
      if (!this.#consume(0x7d)) this.#fail('expected "," or "}"');
    }
    this.#depth--;
    return entries;
  }

  #readArray(): Json[] {
    this.#descend();
    const items: Json[] = [];
    if (!this.#consume(0x5d)) {
      do items.push(this.#readValue());
      while (this.#consume(0x2c));
      if (!this.#consume(0x5d)) this.#fail('expected "," or "]"');
    }
    this.#depth--;
    return items;
  }

  #descend(): void {
    if (++this.#depth > maxDepth) this.#fail(`nested deeper than ${maxDepth} levels`);
    this.#at++;
  }

  #readString(): string {
    const text = this.#text;
    const start = this.#at;
    let end = text.indexOf('"', start + 1);
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    if (end === -1) this.#fail('the string does not end');
    const raw = text.slice(start + 1, end);
    const isPlain = !needsCare.test(raw);
    const value = isPlain ? raw : this.#unescape(raw);
    const isKnownGood = isPlain && this.#isWellFormed;
    if (!isKnownGood && !value.isWellFormed()) this.#fail('the string holds half of a surrogate pair');
    this.#at = end + 1;
    return value;
  }

  #unescape(raw: string): string {
    try {
      return JSON.parse(`"${raw}"`) as string;
    } catch {
      this.#fail('the string holds a control character or an unknown escape');
    }
  }

  #readNumber(): number {
    const start = this.#at;
    const integer = this.#readShortInteger();
    if (integer !== undefined) return integer;
    numberPattern.lastIndex = start;
    if (!numberPattern.test(this.#text)) {
      this.#fail(start >= this.#text.length ? 'the text ends too early' : 'unexpected character');
    }
    const literal = this.#text.slice(start, numberPattern.lastIndex);
    const value = Number(literal);
    if (!isLossless(literal, value)) {
      this.#fail(`the number ${wholeText(literal)} would lose precision; send it as a string`);
    }
    this.#at = numberPattern.lastIndex;
    // Minus zero has no spelling of its own in canonical JSON.
    return value === 0 ? 0 : value;
  }

  /** Most numbers are whole, positive and below 10^15: exact, so there is nothing to compare. */
  #readShortInteger(): number | undefined {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    let value = 0;
    let code = text.charCodeAt(at);
    while (code >= 0x30 && code <= 0x39) {
      value = value * 10 + (code - 0x30);
      code = text.charCodeAt(++at);
    }
    const length = at - start;
    const isWhole = code !== 0x2e && code !== 0x45 && code !== 0x65;
    if (length === 0 || length > 15 || !isWhole || (length > 1 && text.charCodeAt(start) === 0x30)) return undefined;
    this.#at = at;
    return value;
  }

  #readWord<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('unexpected character');
    this.#at += word.length;
    return value;
  }

  #consume(expected: number): boolean {
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#at) !== expected) return false;
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

/** Whether an odd number of backslashes stands before the quote. */
function isEscaped(text: string, quoteAt: number): boolean {
  let at = quoteAt;
  while (text.charCodeAt(at - 1) === 0x5c) at--;
  return (quoteAt - at) % 2 === 1;
}

/** Whether writing the double gives back the number that was read. */
function isLossless(literal: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const written = canonicalNumber(value);
  return written === literal || decimalOf(written) === decimalOf(literal);
}

/** The value of a decimal literal in one spelling: sign, digits without outer zeros, exponent of the last digit. */
function decimalOf(literal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (!match) return literal;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  // Loops, because a pattern for trailing zeros takes quadratic time on a long run of inner ones.
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  if (start === end) return '0';
  const scale = Number(exponent) - fraction.length + (digits.length - end);
  return `${sign}${digits.slice(start, end)}e${scale}`;
}
