import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../test/requirement.ts';
import { canonicalJson } from './canonical-json.ts';
import { parseStrictJson, StrictJsonError } from './strict-json.ts';

// All of Unicode, with a good share of what JSON must escape. (The units of fast-check take a second to build.)
const anyCharacter = fc
  .oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

function refusal(text: string): StrictJsonError {
  try {
    parseStrictJson(text);
  } catch (error) {
    assert.ok(error instanceof StrictJsonError, `expected a StrictJsonError, got ${String(error)}`);
    return error;
  }
  throw new assert.AssertionError({ message: `accepted: ${text.slice(0, 80)}` });
}

test('what JSON.stringify writes is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 6 }), fc.nat({ max: 3 }), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.equal(JSON.stringify(parseStrictJson(text)), JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('whatever is accepted, JSON.parse accepts with the same value, and nothing but StrictJsonError is thrown', () => {
  requirement('NFR-4');
  const tokens = '{ } [ ] , : " \\ "a" "b": true null fals - 0 1 12 . e E+ / 1e5 \\u00 \\ud83d \\ude00'.split(' ');
  const fragment = fc.constantFrom(...tokens, ' ', '\n', '\t', '\u0000', '\u{1f600}', '\ufeff', '\ud800');
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 14 }), (fragments) => {
      const text = fragments.join('');
      let value;
      try {
        value = parseStrictJson(text);
      } catch (error) {
        assert.ok(error instanceof StrictJsonError);
        assert.ok(error.position >= 0 && error.position <= text.length);
        return;
      }
      assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 5000 },
  );
});

test('a repeated key is refused however it is spelled, and the position is that of the second one', () => {
  requirement('PIPE-3');
  assert.match(refusal('{"a":1,"a":1}').message, /the key "a" stands twice at character 7/);
  assert.match(refusal(String.raw`{"a":1,"\u0061":2}`).message, /stands twice/);
  assert.match(refusal(String.raw`{"\u0061b":1, "a\u0062":2}`).message, /stands twice/);
  assert.match(refusal('{"x":{"":1,"":2}}').message, /stands twice/);
  assert.match(refusal('{"1":1,"1":2}').message, /stands twice/);
  assert.match(refusal(String.raw`{"é":1,"\u00e9":2}`).message, /stands twice/);
});

test('keys that only look alike are different keys', () => {
  // Composed and decomposed é: JSON does not normalize, so neither do we.
  assert.equal(Object.keys(parseStrictJson('{"\u00e9":1,"e\u0301":2}') as object).length, 2);
  assert.equal(canonicalJson(parseStrictJson('{"a":1,"A":2,"a ":3}')), '{"A":2,"a":1,"a ":3}');
});

test('the same key in two objects is fine', () => {
  assert.equal(
    canonicalJson(parseStrictJson('{"a":{"a":1},"b":[{"a":2},{"a":3}]}')),
    '{"a":{"a":1},"b":[{"a":2},{"a":3}]}',
  );
});

test('keys of Object.prototype are ordinary keys', () => {
  const text = '{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2,"toString":3}';
  const value = parseStrictJson(text) as Record<string, unknown>;
  assert.equal(value['admin'], undefined);
  assert.equal(canonicalJson(parseStrictJson(text)), text);
  assert.match(refusal('{"__proto__":1,"__proto__":2}').message, /stands twice/);
  assert.equal((parseStrictJson('{}') as Record<string, unknown>)['toString'], undefined);
  assert.equal(({} as Record<string, unknown>)['admin'], undefined);
});

const losslessNumbers: readonly (readonly [literal: string, canonical: string])[] = [
  ['0', '0'],
  ['-0', '0'],
  ['-0.0e9', '0'],
  ['0e99999999999999999999', '0'],
  ['0.1', '0.1'],
  ['1.0', '1'],
  ['1.50', '1.5'],
  ['1E2', '100'],
  ['1e+2', '100'],
  ['10e-1', '1'],
  ['-12.340E-1', '-1.234'],
  ['5e-324', '5e-324'],
  ['1.7976931348623157e308', '1.7976931348623157e+308'],
  ['999999999999999', '999999999999999'],
  ['9007199254740991', '9007199254740991'],
  ['9007199254740992', '9007199254740992'],
  ['-9007199254740992', '-9007199254740992'],
  ['123456789012345680', '123456789012345680'],
  ['100000000000000000000000', '1e+23'],
  ['0.000001', '0.000001'],
  ['0.0000001', '1e-7'],
  [`1.${'0'.repeat(500)}`, '1'],
  [`0.${'0'.repeat(400)}1e401`, '1'],
];

for (const [literal, canonical] of losslessNumbers) {
  test(`the number ${literal.slice(0, 30)} is accepted and written as ${canonical}`, () => {
    assert.equal(canonicalJson(parseStrictJson(literal)), canonical);
    assert.equal(canonicalJson(parseStrictJson(`{"n":[ ${literal} ]}`)), `{"n":[${canonical}]}`);
  });
}

test('minus zero is read as zero, so that the value and its canonical form are the same', () => {
  assert.ok(Object.is(parseStrictJson('-0'), 0));
  assert.ok(Object.is(parseStrictJson('-0.0'), 0));
});

const lossyNumbers = [
  '1e400',
  '-1e400',
  '1e-400',
  '2e-324',
  '1e99999999999999999999',
  '9007199254740993',
  '-9007199254740993',
  '123456789012345678',
  '18446744073709551615',
  '0.1000000000000000055511151231257827',
  '333333333.33333329',
  '3.14159265358979323846',
  `1${'0'.repeat(400)}`,
  `0.${'0'.repeat(400)}1`,
];

for (const literal of lossyNumbers) {
  test(`the number ${literal.slice(0, 40)} is refused because a double cannot hold it`, () => {
    requirement('PIPE-3');
    assert.match(refusal(literal).message, /would lose precision; send it as a string/);
    assert.match(refusal(`{"a":{"n":${literal}}}`).message, /would lose precision/);
  });
}

test('every double is accepted in its shortest spelling', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.equal(parseStrictJson(JSON.stringify(value)), value === 0 ? 0 : value);
    }),
  );
});

test('an integer is accepted exactly when a double holds its value', () => {
  const bound = 2n ** 70n;
  fc.assert(
    fc.property(fc.bigInt({ min: -bound, max: bound }), (integer) => {
      const written = BigInt(JSON.stringify(Number(integer)).replace(/^(-?)(\d)(?:\.(\d+))?e\+(\d+)$/, expand));
      if (written === integer) assert.equal(parseStrictJson(String(integer)), Number(integer));
      else assert.match(refusal(String(integer)).message, /lose precision/);
    }),
  );
});

const notNumbers = [
  '01',
  '-01',
  '+1',
  '.5',
  '1.',
  '1.e3',
  '1e',
  '1e+',
  '-',
  '--1',
  '0x10',
  '1_000',
  'NaN',
  'Infinity',
  '00',
  '١',
];

for (const text of notNumbers) {
  test(`${text} is no JSON number`, () => {
    refusal(text);
    refusal(`[${text}]`);
  });
}

test('half of a surrogate pair is refused, raw or escaped, in values and keys', () => {
  for (const half of [
    '\ud800',
    '\udc00',
    String.raw`\ud800`,
    String.raw`\udfff`,
    String.raw`\ude00\ud83d`,
    '\ud83d\\n',
  ]) {
    assert.match(refusal(`"a${half}b"`).message, /half of a surrogate pair at character 0/);
    assert.match(refusal(`{"${half}":1}`).message, /half of a surrogate pair at character 1/);
  }
});

test('whole surrogate pairs are read, raw or escaped', () => {
  assert.equal(parseStrictJson('"\u{1f600}"'), '\u{1f600}');
  assert.equal(parseStrictJson(String.raw`"\ud83d\ude00"`), '\u{1f600}');
});

test('all escapes of JSON are read, and no others', () => {
  assert.equal(parseStrictJson(String.raw`"\"\\\/\b\f\n\r\t\u00Af\u0000"`), '"\\/\b\f\n\r\t\u00af\u0000');
  for (const escape of [
    String.raw`\x41`,
    String.raw`\'`,
    String.raw`\u12`,
    String.raw`\u{41}`,
    String.raw`\u00g0`,
    '\\\n',
  ]) {
    assert.match(refusal(`"${escape}"`).message, /unknown escape/);
  }
});

test('a backslash before the closing quote keeps the string open', () => {
  assert.equal(parseStrictJson(String.raw`"\\"`), '\\');
  assert.equal(parseStrictJson(String.raw`"\\\""`), '\\"');
  assert.match(refusal(String.raw`"\"`).message, /the string does not end/);
  assert.match(refusal(String.raw`"\\\"`).message, /the string does not end/);
});

test('control characters inside a string are refused', () => {
  for (let code = 0; code < 0x20; code++) {
    assert.match(refusal(`"a${String.fromCharCode(code)}"`).message, /control character/);
  }
  assert.equal(parseStrictJson('"\u007f\u2028\u2029"'), '\u007f\u2028\u2029');
});

test('64 levels are read and 65 are refused, for arrays, objects and both', () => {
  const nest = (open: string, close: string, levels: number): string =>
    open.repeat(levels) + '1' + close.repeat(levels);
  for (const [open, close, levelsEach] of [
    ['[', ']', 1],
    ['{"a":', '}', 1],
    ['[{"a":', '}]', 2],
  ] as const) {
    assert.doesNotThrow(() => parseStrictJson(nest(open, close, 64 / levelsEach)));
    assert.match(refusal(nest(open, close, 64 / levelsEach + 1)).message, /nested deeper than 64 levels/);
  }
});

test('siblings do not add to the depth', () => {
  assert.doesNotThrow(() => parseStrictJson(`[${'[],{},'.repeat(200)}[]]`));
});

test('each beginning of a text is refused when it ends too early', () => {
  const text = String.raw`{"a":[1,-2.5e3,"x\n\u00e9",true,false,null],"b":{}}`;
  for (let length = 0; length < text.length; length++) refusal(text.slice(0, length));
  assert.doesNotThrow(() => parseStrictJson(text));
});

const notJson = [
  '',
  ' ',
  '1 2',
  '{} {}',
  '[1,]',
  '[,1]',
  '[1 2]',
  '{"a":1,}',
  '{,}',
  '{"a"}',
  '{"a":}',
  '{a:1}',
  "{'a':1}",
];
const notJsonEither = [
  '"a',
  'tru',
  'True',
  'nul',
  'undefined',
  '[1]x',
  '// a\n1',
  '/* */1',
  '\ufeff1',
  '1\u0000',
  '\u00a01',
  '[1}',
  ']',
];

for (const text of [...notJson, ...notJsonEither]) {
  test(`the text ${JSON.stringify(text)} is refused`, () => {
    refusal(text);
  });
}

test('the four white spaces of JSON are skipped everywhere between tokens', () => {
  const space = ' \t\r\n';
  const text = ['{', '"a"', ':', '[', '1', ',', '2', ']', ',', '"b"', ':', 'null', '}'].join(space);
  assert.equal(canonicalJson(parseStrictJson(space + text + space)), '{"a":[1,2],"b":null}');
});

test('a message never repeats more than a piece of the text', () => {
  const long = 'k'.repeat(100_000);
  assert.ok(refusal(`{"${long}":1,"${long}":2}`).message.length < 300);
  assert.ok(refusal(`0.${'1'.repeat(100_000)}`).message.length < 300);
});

// Ten megabytes each. A step that is quadratic in any of these would not come back within the patience of a test run.
const size = 10_000_000;
const hostile: Readonly<Record<string, { readonly text: string; readonly refused: boolean }>> = {
  'only opening brackets': { text: '['.repeat(size), refused: true },
  'only opening braces with keys': { text: '{"a":'.repeat(size / 5), refused: true },
  'only white space': { text: ' '.repeat(size), refused: true },
  'only quotes': { text: '"'.repeat(size), refused: true },
  'only backslashes in a string': { text: `"${'\\'.repeat(size)}`, refused: true },
  'escaped quotes in a string': { text: `"${'\\"'.repeat(size / 2)}"`, refused: false },
  'a number of digits': { text: '1'.repeat(size), refused: true },
  'a fraction with a long inner run of zeros': { text: `0.1${'0'.repeat(size)}1`, refused: true },
  'a fraction with a long tail of zeros': { text: `0.1${'0'.repeat(size)}`, refused: false },
  'an exponent of digits': { text: `1e${'9'.repeat(size)}`, refused: true },
  'an array of numbers': { text: `[${`1.${'0'.repeat(97)},`.repeat(size / 100)}0]`, refused: false },
  'an array of strings without end': { text: `[${`"${'x'.repeat(95)}\\n",`.repeat(size / 100)}`, refused: true },
  'one long string': { text: `"${'x'.repeat(size)}"`, refused: false },
};

for (const [name, { text, refused }] of Object.entries(hostile)) {
  test(`ten megabytes of ${name} are ${refused ? 'refused' : 'read'}`, () => {
    requirement('NFR-4');
    if (refused) refusal(text);
    else assert.doesNotThrow(() => parseStrictJson(text));
  });
}

test('an object with very many keys is read, and its one repeated key is found', () => {
  const members = Array.from({ length: 50_000 }, (_, at) => `"key${at}":${at}`).join(',');
  assert.equal(Object.keys(parseStrictJson(`{${members}}`) as object).length, 50_000);
  assert.match(refusal(`{${members},"key7":0}`).message, /the key "key7" stands twice/);
});

/** Writes `1.5e+21` as a whole number. */
function expand(_: string, sign: string, whole: string, fraction = '', exponent = '0'): string {
  return sign + whole + fraction.padEnd(Number(exponent), '0');
}
