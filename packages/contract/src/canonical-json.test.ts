import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../test/requirement.ts';
import { canonicalJson, canonicalNumber, isJsonObject } from './canonical-json.ts';
import type { Json } from './canonical-json.ts';
import { parseStrictJson } from './strict-json.ts';

// All of Unicode, with a good share of what JSON must escape. (The units of fast-check take a second to build.)
const anyCharacter = fc
  .oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

// RFC 8785, appendix B: the bits of a double and its one spelling.
const numberVectors: readonly (readonly [bits: string, spelling: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

test('the numbers of RFC 8785 appendix B have their published spelling', () => {
  requirement('PIPE-3');
  for (const [bits, spelling] of numberVectors) {
    const value = Buffer.from(bits, 'hex').readDoubleBE();
    assert.equal(canonicalNumber(value), spelling);
    assert.equal(canonicalJson(value), spelling);
  }
});

test('the serialization example of RFC 8785 gives the published text', () => {
  const input = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  assert.equal(
    canonicalJson(JSON.parse(input) as Json),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
      String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test('the sorting example of RFC 8785 comes out in the order of UTF-16 units', () => {
  const input = String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
    "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`;
  const written = canonicalJson(parseStrictJson(input));
  assert.deepEqual(
    [...written.matchAll(/:"([^"]+)"/g)].map((match) => match[1]),
    [
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ],
  );
});

test('any value is written as ECMAScript writes it with all keys in UTF-16 order', () => {
  requirement('PIPE-3');
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 5 }), (value) => {
      const read = parseStrictJson(JSON.stringify(value));
      const keys = new Set<string>();
      collectKeys(read, keys);
      // A list of keys makes JSON.stringify write members in the order of the list.
      const expected = JSON.stringify(read, [...keys].sort());
      assert.equal(canonicalJson(read), expected);
    }),
  );
});

test('writing what was read from the canonical form changes nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 5 }), (value) => {
      const once = canonicalJson(parseStrictJson(JSON.stringify(value)));
      assert.equal(canonicalJson(parseStrictJson(once)), once);
    }),
  );
});

test('the order in which members were added does not show', () => {
  const entries = fc.uniqueArray(fc.tuple(fc.string(), fc.integer()), { selector: ([key]) => key, minLength: 2 });
  fc.assert(
    fc.property(entries, (members) => {
      const reversed = Object.fromEntries(members.toReversed());
      assert.equal(canonicalJson(reversed), canonicalJson(Object.fromEntries(members)));
    }),
  );
});

test('different values have different canonical forms', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(value, value, (left, right) => {
      const [a, b] = [parseStrictJson(JSON.stringify(left)), parseStrictJson(JSON.stringify(right))];
      assert.equal(canonicalJson(a) === canonicalJson(b), isDeepEqual(a, b));
    }),
  );
});

test('an undefined member is absent, but an undefined element is refused', () => {
  assert.equal(canonicalJson({ a: undefined as unknown as Json, b: 1 }), '{"b":1}');
  assert.throws(() => canonicalJson([undefined as unknown as Json]), TypeError);
  assert.throws(() => canonicalJson(undefined), TypeError);
});

const unwritable: Readonly<Record<string, unknown>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  'minus Infinity': Number.NEGATIVE_INFINITY,
  'a high surrogate alone': 'a\ud800',
  'a low surrogate alone': '\udc00b',
  'a key with half a pair': { '\ud800': 1 },
  'a bigint': 1n,
  'a function': () => 1,
  'a symbol': Symbol('x'),
  'an array with a hole': Object.assign([], { length: 1 }),
  'a date': new Date(0),
  'a map': new Map([['a', 1]]),
  'a byte array': new Uint8Array([1]),
  'a boxed string': new String('x'),
  'something deep inside': { a: [{ b: Number.NaN }] },
};

for (const [name, value] of Object.entries(unwritable)) {
  test(`${name} has no canonical form`, () => {
    assert.throws(() => canonicalJson(value as Json), TypeError);
  });
}

test('only objects with members are JSON objects', () => {
  assert.equal(isJsonObject({}), true);
  assert.equal(isJsonObject(parseStrictJson('{"a":1}')), true);
  for (const other of [null, [], 'a', 1, true, undefined]) assert.equal(isJsonObject(other), false);
});

function collectKeys(value: Json, keys: Set<string>): void {
  if (Array.isArray(value)) for (const item of value as readonly Json[]) collectKeys(item, keys);
  else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      keys.add(key);
      collectKeys(member, keys);
    }
  }
}

function isDeepEqual(left: Json, right: Json): boolean {
  try {
    assert.deepEqual(left, right);
    return true;
  } catch {
    return false;
  }
}
