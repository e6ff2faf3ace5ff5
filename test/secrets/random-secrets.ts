import { createHash } from 'node:crypto';

/** Choices that look random and follow from a seed, so that what was found is found again. */
export class Draw {
  readonly #seed: string;
  #block = Buffer.alloc(0);
  #used = 0;
  #blocks = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** From 0 up to, not including, `end`. */
  below(end: number): number {
    if (this.#used + 4 > this.#block.length) {
      const hash = createHash('shake256', { outputLength: 4096 });
      this.#block = hash.update(`${this.#seed} ${this.#blocks++}`).digest();
      this.#used = 0;
    }
    this.#used += 4;
    return Math.floor((this.#block.readUInt32BE(this.#used - 4) / 2 ** 32) * end);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.below(from.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }

  text(alphabet: string | readonly string[], length: number): string {
    const characters = typeof alphabet === 'string' ? Array.from(alphabet) : alphabet;
    return Array.from({ length }, () => this.pick(characters)).join('');
  }
}

export interface DrawnSecret {
  readonly kind: string;
  readonly value: string;
  /** Parts of the value of which any eight characters are too much. The others are words. */
  readonly randomParts: readonly string[];
}

const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const smalls = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const alnum = capitals + smalls + digits;
const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('');
const ideographs = Array.from({ length: 2000 }, (_, at) => String.fromCharCode(0x4e00 + at * 7));
const letters = 'äöüßéèñçøåæłžšđčαβγδεζηθикл';
const pictures = ['👨‍👩‍👧', '🔑', '🏴‍☠️', '🦊', '🧵', '🪤', '🎲', '🧿', '🛰️', '🥨', '🐙', '🪐'];
const words = 'correct horse battery staple window garden orange letter silver morning winter bridge'.split(' ');

const alphabets: Readonly<Record<string, string | readonly string[]>> = {
  base64: `${alnum}+/`,
  base64url: `${alnum}-_`,
  base32: `${capitals}234567`,
  'small letters and digits': smalls + digits,
  'small letters': smalls,
  hexadecimal: `${digits}abcdef`,
  digits,
  signs: printable,
  'shell signs': `${alnum}$*?[]{}\\'"\`&|;<>()!#~% `,
  ideographs,
  'accented letters': letters,
  pictures,
};

const lengths = [8, 9, 11, 12, 16, 20, 24, 32, 40, 64, 100, 256, 500, 1000, 2000, 4000, 8000];

/** A secret of any kind that people entrust to the gate. */
export function drawSecret(draw: Draw): DrawnSecret {
  const length = draw.below(3) === 0 ? draw.between(8, 300) : draw.pick(lengths);
  switch (draw.below(9)) {
    case 0:
      return drawWords(draw, length);
    case 1: {
      const period = draw.text(alnum, draw.between(1, 7));
      return { kind: 'repetitive', value: period.repeat(Math.ceil(length / period.length)), randomParts: [] };
    }
    case 2: {
      const body = Array.from({ length: draw.between(2, 40) }, () => draw.text(`${alnum}+/`, draw.between(16, 64)));
      const value = ['-----BEGIN THING-----', ...body, '-----END THING-----'].join('\n');
      return { kind: 'lines', value, randomParts: body };
    }
    case 3: {
      const password = draw.text(alnum, draw.between(8, 40));
      const value = `postgres://app:${password}@db.example.com:5432/orders`;
      return { kind: 'address', value, randomParts: [password] };
    }
    default: {
      const kind = draw.pick(Object.keys(alphabets));
      const value = draw.text(alphabets[kind] ?? '', length).trim();
      if (value.length < 8) return drawSecret(draw);
      return { kind, value, randomParts: [value] };
    }
  }
}

function drawWords(draw: Draw, length: number): DrawnSecret {
  const sign = draw.pick([' ', '-', '_', '.', '']);
  let value = draw.pick(words);
  while (value.length < length) value += sign + draw.pick(words);
  return { kind: 'words', value, randomParts: [] };
}
