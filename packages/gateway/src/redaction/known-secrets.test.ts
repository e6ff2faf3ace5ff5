import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import { KnownSecrets } from './known-secrets.ts';
import { blankSpans } from './span.ts';

function show(secrets: readonly string[], text: string, isCut = false): string {
  const known = new KnownSecrets();
  for (const secret of secrets) known.learn(secret);
  return blankSpans(text, known.find(text, { isCut }));
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const ideographs = Array.from({ length: 64 }, (_, at) => String.fromCharCode(0x4e00 + at * 83)).join('');

const secret = `pä/ss "w&rd" <7>'+~`;
const unseen = ['\u200b', '\u00ad', '\u200d', '\u2062', '\ufe0f', '\u0336', '\u202e', '\u{e0041}', '\u115f', '\0'];
const encodings: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  'as JSON': (text) => JSON.stringify(text),
  'as JSON in JSON': (text) => JSON.stringify(JSON.stringify(text)),
  'as JSON with escaped slashes': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'as JSON in ASCII': (text) =>
    JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in a URL': (text) => encodeURIComponent(text),
  'in a URL, small digits': (text) => encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  'in a form': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'in HTML': (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  'in base64': (text) => Buffer.from(text).toString('base64'),
  'in base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
  'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
  'in hexadecimal, capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'split by zero-width spaces': (text) => [...text].join('\u200b'),
  'split by marks of many kinds': (text) => [...text].map((one, at) => one + unseen[at % unseen.length]).join(''),
  'split, then escaped as JSON in ASCII': (text) =>
    JSON.stringify([...text].join('\u2060')).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`),
  'split, then in a URL': (text) => encodeURIComponent([...text].join('\ufeff')),
  'as UTF-16LE read as bytes': (text) => Buffer.from(text, 'utf16le').toString('latin1'),
  'as UTF-16BE read as bytes': (text) => Buffer.from(text, 'utf16le').swap16().toString('latin1'),
  'as UTF-16LE read as bytes, in JSON': (text) => JSON.stringify(Buffer.from(text, 'utf16le').toString('latin1')),
  'as UTF-16LE in base64': (text) => Buffer.from(text, 'utf16le').toString('base64'),
};

for (const [how, encode] of Object.entries(encodings)) {
  test(`a known secret is found ${how}`, () => {
    requirement('AUD-4');
    const encoded = encode(secret);
    const inner = /^"+(?<inner>.*?)"+$/.exec(encoded)?.groups?.['inner'] ?? encoded;
    const seen = show([secret], `before,${encoded};after`);
    assert.ok(!seen.includes(inner) && seen.includes('[redacted]'), seen);
    assert.match(seen, /^before,.*;after$/);
  });
}

test('a known secret is found inside of a longer base64 text, and its neighbours carry no bits of it', () => {
  requirement('AUD-4');
  const ours = fc
    .string({ unit: 'grapheme-ascii', minLength: 12, maxLength: 40 })
    .filter((text) => text.trim() === text);
  fc.assert(
    fc.property(ours, fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ maxLength: 8 }), (value, before, after) => {
      const bytes = Buffer.concat([before, Buffer.from(value), after]);
      for (const encoding of ['base64', 'base64url'] as const) {
        const encoded = bytes.toString(encoding);
        const seen = show([value], encoded);
        const [head = '', tail = ''] = seen.split('[redacted]');
        assert.notEqual(seen, encoded);
        // What is left holds no more bits than stood around the secret.
        assert.ok(head.length <= Math.floor((before.length * 8) / 6), seen);
        assert.ok(tail.replace(/=+$/, '').length <= Math.ceil((after.length * 8) / 6), seen);
      }
    }),
  );
});

test('the lines of a secret are secret, as they stand in a diff or an indented block', () => {
  requirement('AUD-4');
  const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'];
  const key = ['-----BEGIN THING-----', ...lines, '-----END THING-----'].join('\n');
  const seen = show([key], `+-----BEGIN THING-----\r\n+${lines[0]}\r\n+${lines[1]}\r\n`);
  for (const line of lines) assert.ok(!seen.includes(line), seen);
});

test('however a secret with signs in it was escaped, its plain parts are found', () => {
  requirement('AUD-4');
  const value = `p"a's\\s 7cc3398d8588&x<ö>`;
  for (const escape of [
    (text: string) => text.replace(/["'\\]/g, '?'),
    (text: string) => JSON.stringify(JSON.stringify(JSON.stringify(text))),
    (text: string) => `'${text.replaceAll("'", `'\\''`)}'`,
  ]) {
    assert.ok(!show([value], escape(value)).includes('7cc3398d8588'), escape(value));
  }
  assert.equal(show(['some ordinary.host.name & words'], 'ordinary.host.name'), 'ordinary.host.name');
});

test('a secret that contains another one leaves no part of itself behind', () => {
  for (const order of [
    ['secret-part', 'secret-part-and-more'],
    ['secret-part-and-more', 'secret-part'],
  ]) {
    assert.equal(show(order, 'x secret-part-and-more y'), 'x [redacted] y');
  }
});

test('half a secret at the end of a text that was cut is found, and only there', () => {
  requirement('AUD-4');
  const value = 'correct-horse-battery-staple';
  assert.equal(show([value], 'it is correct-horse', true), 'it is [redacted]');
  assert.equal(show([value], 'it is correct-horse', false), 'it is correct-horse');
  assert.equal(show([value], 'correct-horse and more', true), 'correct-horse and more');
});

test('what is left of a secret that was cut is found: long pieces always, short ones when they are random', () => {
  requirement('AUD-4');
  const words = 'correct-horse-battery-staple';
  assert.equal(show([words], 'it is "correct-horse-battery-st" and so on'), 'it is "[redacted]" and so on');
  assert.equal(show([words], 'it is …ect-horse-battery-staple'), 'it is …[redacted]');
  assert.equal(show([words], 'the correct-horse-battery is here'), 'the correct-horse-battery is here');
  const random = 'kJ83hs0YqLm2PzXw9BnR';
  assert.equal(show([random], 'kJ83hs0Y…w9BnR'), '[redacted]…w9BnR');
  assert.equal(show([random], 'kJ83h…2PzXw9BnR'), 'kJ83h…[redacted]');
  const long = Array.from({ length: 40 }, (_, n) => `${n * 7919}`).join('');
  assert.equal(show([long], `a${long.slice(50, 90)}z`), 'a[redacted]z');
});

const alphabets = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', base64, ideographs];
// Numbers of the library are often small and alike, which is not what random means here.
const drawn = fc.record({ seed: fc.nat(), alphabet: fc.constantFrom(...alphabets) }).map(({ seed, alphabet }) => {
  const bytes = createHash('shake256', { outputLength: 200 }).update(String(seed)).digest();
  return Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('');
});

test('any eight characters of what is random are found, wherever a text was cut, and its escapes with them', () => {
  requirement('AUD-4');
  fc.assert(
    fc.property(drawn, fc.nat(), fc.integer({ min: 8, max: 23 }), (value, at, length) => {
      const start = at % (value.length - length);
      const piece = value.slice(start, start + length);
      fc.pre(new Set(piece).size > 3);
      assert.equal(show([value], `it was "${piece}" then`), 'it was "[redacted]" then');
      const encoded = Buffer.from(`::${value}`).toString('base64').slice(4);
      assert.equal(show([value], `(${encoded.slice(start, start + length)})`), '([redacted])');
    }),
  );
});

test('where forms of a secret share a piece, none hides what another one has next to it', () => {
  requirement('AUD-4');
  // In a URL the sign is written otherwise, so that the rest is a piece of that form as well.
  const plus = 'Y+EhscrgfVvrPrksrew2xkuKBvxLeubGjIl2hpWZMJWLaHUD7hivQ9Kah4SX2cuj';
  assert.equal(show([plus], '"+EhscrgfVvrPrksr"'), '"[redacted]"');
  const slash = 'lmGqA8N8dV38oqWn1OHzWyVxDGbE/3xc5Y5fl66bXyQOxZLh8vAl442T4yFemLot';
  assert.equal(show([slash], '"dV38oqWn1OHzWyVxDGbE/"'), '"[redacted]"');
});

test('words that come about between the signs of base64 hide nothing of it, escaped or not', () => {
  requirement('AUD-4');
  for (const { value, piece } of [
    { value: '8ruaevsS6aIrmf8zpd+4nG8Ny0aCdu9GyK/f4wwvRPpHrxptZPE8', piece: '6aIrmf8zpd+4n' },
    { value: 'C9eTUYD5rmyMbeI+C9eTUYD2/O8eGOOYO6o', piece: 'D2/O8eGO' },
    { value: 'h2NSwRzkjxzki/0b2eFEquK/nIGIou/msrNUROj0EYKryXbDcB', piece: 'FEquK/nIGIou/msrNUR' },
  ]) {
    for (const write of [String, encodeURIComponent, (text: string) => text.replaceAll('/', '\\/')]) {
      assert.equal(show([value], `"${write(piece)}"`), '"[redacted]"', write(piece));
    }
  }
});

test('where one secret ends in the midst of another, both are found up to their last character', () => {
  requirement('AUD-4');
  const shared = '69067385515156412416436669613380362419575462142633595502281942432090664485';
  assert.equal(show([shared.slice(0, 48), shared.slice(42)], `"${shared.slice(40, 50)}"`), '"[redacted]"');
  const place = fc.record({
    start: fc.integer({ min: 40, max: 120 }),
    length: fc.integer({ min: 10, max: 24 }),
  });
  fc.assert(
    fc.property(drawn, place, fc.nat(), fc.nat(), (value, { start, length }, a, b) => {
      const seen = value.slice(start, start + length);
      // Both have enough of it to be found, and together all of it.
      const endOfFirst = start + 8 + (a % (length - 7));
      const startOfSecond = start + (b % (Math.min(endOfFirst - start, length - 8) + 1));
      const secrets = [value.slice(0, endOfFirst), value.slice(startOfSecond)];
      fc.pre(new Set(value.slice(start, start + 8)).size > 3 && new Set(seen.slice(-8)).size > 3);
      for (const order of [secrets, secrets.toReversed()]) {
        assert.match(show(order, `"${seen}"`), /^"(?:\[redacted\])+"$/);
      }
    }),
  );
});

test('the words in a secret stay readable elsewhere, and what is random between them does not', () => {
  requirement('AUD-4');
  const address = 'postgres://app:R4w5voFMx1@db.example.com:5432/production';
  const ordinary = 'postgres runs in production on db.example.com:5432, and production is fine';
  assert.equal(show([address], ordinary), ordinary);
  assert.equal(show([address], 'the password R4w5voFM was cut'), 'the password [redacted] was cut');
  assert.equal(show(['sallyport-production-key'], 'sallyport in production'), 'sallyport in production');
  assert.equal(show(['production2024!'], 'production of 2024'), 'production of 2024');
  const hook = 'https://foo.com/services/T02AB9XQK/B07/kJ83hs0YqLm2PzXw9BnR';
  assert.equal(show([hook], 'https://foo.com/about our services'), 'https://foo.com/about our services');
  assert.equal(show([hook], 'sent to …/T02AB9XQK/B0'), 'sent to …[redacted]');
});

test('a secret that repeats itself costs no more time than any other, on any text', () => {
  requirement('NFR-4');
  const known = new KnownSecrets();
  for (const value of ['a'.repeat(8000), 'ab'.repeat(4000), `${'a'.repeat(4000)}b`]) known.learn(value);
  // With a look at every place from every place this would take hours.
  for (const text of ['a'.repeat(2 ** 20), 'ab'.repeat(2 ** 19)]) {
    assert.equal(blankSpans(text, known.find(text, { isCut: false })), '[redacted]');
  }
});

test('what is too short to be a secret does not blank ordinary text', () => {
  assert.equal(show(['a', '', '   ', 'five5'], 'a banana five5'), 'a banana five5');
});

test('many secrets, and long ones, are all found', () => {
  const many = Array.from({ length: 1000 }, (_, n) => `secret-number-${n}-of-many`);
  const long = Array.from({ length: 2000 }, (_, n) => `line${n}`).join(' ');
  const text = `${many.join(' ')} ${long}`;
  assert.equal(
    show([...many, long], text)
      .replaceAll('[redacted]', '')
      .trim(),
    '',
  );
});

test('no secret can break the search for the others', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', minLength: 6, maxLength: 30 }), { maxLength: 5 }), (secrets) => {
      const usable = secrets.map((each) => each.trim()).filter(({ length }) => length >= 6);
      const seen = show(secrets, usable.join('|'));
      for (const each of usable)
        assert.ok(!seen.includes(each) || '[redacted]'.includes(each), JSON.stringify({ each, seen }));
    }),
  );
});
