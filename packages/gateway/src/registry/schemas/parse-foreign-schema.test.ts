import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '@sallyport/contract';
import { parseStrictJson } from '@sallyport/contract';
import { SchemaCheck } from './check-schema.ts';
import { ForeignSchemaError, parseForeignSchema } from './parse-foreign-schema.ts';
import { schemaKeywords } from './schema-keywords.ts';

function reasonOf(schema: Json): string {
  try {
    parseForeignSchema(schema);
  } catch (error) {
    if (error instanceof ForeignSchemaError) return error.message;
    throw error;
  }
  return assert.fail(`the schema was taken: ${JSON.stringify(schema).slice(0, 200)}`);
}

function rulesBroken(schema: Json, value: Json): string[] {
  const check = new SchemaCheck(parseForeignSchema(schema), 'arguments', { isForeign: true });
  return check.check(value).map(({ rule }) => rule);
}

const text = { type: 'string' };

test('an ordinary schema is taken as it is, and holds values to it', () => {
  const schema: JsonObject = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    title: 'Search',
    properties: {
      query: { type: 'string', minLength: 1, pattern: '^\\w+$', description: 'What to look for.\nOne word.' },
      limit: { type: 'integer', minimum: 1, default: 10, examples: [5] },
      kind: { enum: ['a', 'b', null] },
      tags: { type: 'array', items: { $ref: '#/$defs/tag' }, uniqueItems: true },
      tree: { $ref: '#/$defs/tree' },
    },
    required: ['query'],
    additionalProperties: false,
    $defs: {
      tag: { type: ['string', 'null'] },
      tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' }, size: { type: 'number' } } },
    },
  };
  assert.deepEqual(parseForeignSchema(schema), schema);
  const value: JsonObject = { query: 'x' };
  assert.deepEqual(rulesBroken(schema, value), []);
  assert.deepEqual(value, { query: 'x', limit: 10 });
  assert.deepEqual(rulesBroken(schema, { query: 'a b', limit: 0, kind: 'c', tags: ['x', 'x'], more: 1 }).sort(), [
    'enum',
    'minimum',
    'pattern',
    'unique_items',
    'unknown',
  ]);
  assert.deepEqual(rulesBroken(schema, { query: 'x', tree: { left: { left: { size: 'big' } } } }), ['type']);
  assert.deepEqual(rulesBroken(schema, { query: 'x', tree: { left: { left: { size: 1 } } } }), []);
});

test('keywords that nobody knows are left out; those that change how a schema is read are refused', () => {
  assert.deepEqual(parseForeignSchema({ ...text, 'x-note': 1, nullable: true, constructor: {} }), text);
  for (const keyword of ['$async', '$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$vocabulary']) {
    assert.match(reasonOf({ [keyword]: true }), /is not allowed/, keyword);
    assert.match(reasonOf({ properties: { a: { items: { [keyword]: 'x' } } } }), /#\/properties\/a\/items/, keyword);
  }
});

test('schemas with equal ids cannot be mixed up, because ids are refused', () => {
  for (const type of ['string', 'number']) assert.match(reasonOf({ $id: 'same', type }), /"\$id" is not allowed/);
});

test('a keyword with the wrong kind of value is refused, and the reason says where', () => {
  for (const schema of [
    { type: 'text' },
    { type: [] },
    { minLength: -1 },
    { maxItems: 1.5 },
    { minimum: '1' },
    { multipleOf: 0 },
    { uniqueItems: 1 },
    { required: 'a' },
    { required: [1] },
    { enum: 'a' },
    { properties: [] },
    { properties: { a: 'string' } },
    { items: [text] },
    { anyOf: text },
    { allOf: [null] },
    { pattern: 5 },
    { description: 5 },
    { dependentRequired: { a: 'b' } },
  ] as Json[]) {
    assert.match(reasonOf(schema), /\(at "#\//, JSON.stringify(schema));
  }
  for (const schema of [null, true, [], 'x']) assert.match(reasonOf(schema), /must be an object/);
});

test('references stay inside, lead to a schema and do not go in circles', () => {
  for (const $ref of ['other.json', 'http://example.com/x', 'file:///etc/passwd', '', '#name', './#/$defs/a']) {
    assert.match(reasonOf({ $ref, $defs: { a: text } }), /must point into the schema itself/, $ref);
  }
  for (const $ref of ['#/$defs/b', '#/type', '#/$defs', '#/$defs/a/type', '#/%E0%A4%A', '#/required/0']) {
    assert.match(reasonOf({ $ref, type: 'object', required: ['a'], $defs: { a: text } }), /leads nowhere|well formed/);
  }
  for (const loop of [
    { $ref: '#' },
    { allOf: [{ $ref: '#' }] },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [text, { $ref: '#/$defs/a' }] } } },
    { if: { not: { $ref: '#/$defs/a' } }, $defs: { a: { dependentSchemas: { x: { $ref: '#' } } } } },
  ] as Json[]) {
    assert.match(reasonOf(loop), /in a circle/, JSON.stringify(loop));
  }
  const named = { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': text } };
  assert.deepEqual(rulesBroken(named, 5), ['type']);
});

test('a schema is bounded in depth, in parts and in values', () => {
  let deep: Json = text;
  for (let level = 0; level < 40; level++) deep = { not: deep };
  assert.match(reasonOf(deep), /deeper than 32/);
  const many = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`p${index}`, true]));
  assert.match(reasonOf({ properties: many }), /more than 2000 parts/);
  assert.match(reasonOf({ enum: Array.from({ length: 10_001 }, (_, index) => index) }), /more than 10000 values/);
  assert.match(reasonOf({ default: [Array.from({ length: 10_001 }, () => 0)] }), /more than 10000 values/);
  assert.match(reasonOf({ description: 'x'.repeat(10_001) }), /plain text/);
});

test('a long chain of references compiles, or is refused', () => {
  const chain = (length: number, wrap: (next: JsonObject) => JsonObject): JsonObject => {
    const links = Array.from({ length }, (_, index): [string, Json] => [
      `d${index}`,
      wrap({ $ref: `#/$defs/d${index + 1}` }),
    ]);
    return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(links), [`d${length}`]: text } };
  };
  for (const wrap of [(next: JsonObject) => next, (next: JsonObject) => ({ items: next })]) {
    assert.match(reasonOf(chain(101, wrap)), /lead to more than 100 parts/);
    parseForeignSchema(chain(99, wrap));
  }
  assert.deepEqual(
    rulesBroken(
      chain(99, (next) => next),
      5,
    ),
    ['type'],
  );
  assert.deepEqual(
    rulesBroken(
      chain(99, (next) => ({ items: next })),
      [[[]]],
    ),
    [],
  );
});

test('names that hide or that change what an object is are refused', () => {
  const proto = parseStrictJson('{"__proto__":{"type":"string","default":"x"}}');
  for (const keyword of ['properties', '$defs', 'dependentSchemas']) {
    assert.match(reasonOf({ [keyword]: proto }), /__proto__/, keyword);
  }
  assert.match(reasonOf({ required: ['__proto__'] }), /__proto__/);
  assert.match(reasonOf({ default: parseStrictJson('{"a":{"__proto__":{}}}') }), /__proto__/);
  for (const name of ['a\u0000b', 'a\nb', 'a\u001b[31m', 'a\u202eb', 'a\u{e0041}']) {
    assert.match(reasonOf({ properties: { [name]: text } }), /hidden characters/, JSON.stringify(name));
    assert.match(reasonOf({ required: [name] }), /hidden characters/, JSON.stringify(name));
  }
  assert.match(reasonOf({ description: 'Harmless.\u{e0041}\u{e0042}' }), /plain text/);
  assert.match(reasonOf({ properties: { ['k'.repeat(201)]: text } }), /longer than 200/);
  assert.deepEqual(rulesBroken({ properties: { constructor: text, toString: text } }, {}), []);
  assert.deepEqual(rulesBroken({ required: ['constructor'] }, {}), ['required']);
});

test('patterns run in linear time, and what cannot is refused', () => {
  const hostile = `${'a'.repeat(50_000)}!`;
  for (const pattern of ['^(a+)+$', '^(a|aa)+$', '^(a|a?)+$', '(.*)*(.*)*(.*)*x$', '^([a-z]{1,10}){1,20}$']) {
    assert.deepEqual(rulesBroken({ pattern }, hostile), ['pattern'], pattern);
    assert.equal(rulesBroken({ patternProperties: { [pattern]: false } }, { [hostile]: 1 }).length, 0, pattern);
  }
  for (const pattern of ['(?=a)b', '(?<!a)b', '(a)\\1', '(', 'a{5000}', '((a{100}){100}){100}', 'a'.repeat(1001)]) {
    assert.match(reasonOf({ pattern }), /pattern/, pattern);
    assert.match(reasonOf({ patternProperties: { [pattern]: true } }), /pattern|longer/, pattern);
  }
});

test('many patterns on much text end in a refusal of the value', () => {
  const patterns = Array.from({ length: 200 }, (_, index) => [`([a-z]{1,10}){1,20}${index}$`, true] as const);
  const texts = Array.from({ length: 100 }, (_, index) => [`${'a'.repeat(10_000)}${index}`, 1] as const);
  assert.deepEqual(rulesBroken({ patternProperties: Object.fromEntries(patterns) }, Object.fromEntries(texts)), [
    'work',
  ]);
});

test('two patterns of one schema are two patterns', () => {
  const schema = { properties: { a: { pattern: '^x$' }, b: { pattern: '^y$' } } };
  assert.deepEqual(rulesBroken(schema, { a: 'x', b: 'y' }), []);
  assert.deepEqual(rulesBroken(schema, { a: 'y', b: 'x' }), ['pattern', 'pattern']);
});

test('branches within branches end in a refusal of the value, not in a wait', () => {
  const doubling: Record<string, Json> = { d40: text };
  for (let level = 0; level < 40; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    doubling[`d${level}`] = { anyOf: [next, next] };
  }
  assert.deepEqual(rulesBroken({ $ref: '#/$defs/d0', $defs: doubling }, 5), ['work']);

  const again = { properties: { x: { $ref: '#' } } };
  let deep: Json = { x: 5 };
  for (let level = 0; level < 50; level++) deep = { x: deep };
  assert.deepEqual(rulesBroken({ type: 'object', oneOf: [again, again] }, deep), ['work']);
});

test('a large value against long lists ends in time as well', () => {
  const values = Array.from({ length: 3000 }, (_, index) => ({ index }));
  const items = Array.from({ length: 20_000 }, () => ({ index: -1, more: true }));
  const within = { items: { not: { enum: values } } };
  assert.deepEqual(rulesBroken(within, items), ['work']);
  const unique = Array.from({ length: 50_000 }, (_, index) => ({ index, list: [index] }));
  assert.deepEqual(rulesBroken({ uniqueItems: true }, unique), []);
  assert.deepEqual(rulesBroken({ uniqueItems: true }, [...unique, { list: [7], index: 7 }]), ['unique_items']);
});

test('a large honest value passes an honest schema', () => {
  const schema = {
    type: 'array',
    items: {
      type: 'object',
      required: ['id', 'name'],
      properties: { id: { type: 'integer' }, name: { pattern: '^n' } },
    },
  };
  const rows = Array.from({ length: 100_000 }, (_, id) => ({ id, name: `name ${id}` }));
  assert.deepEqual(rulesBroken(schema, rows), []);
});

test('a list of values that names none is refused', () => {
  assert.throws(() => parseForeignSchema({ properties: { a: { enum: [] } } }), /at least one value/);
});

test('whatever a schema is made of, it is taken or refused, and what is taken checks any value', () => {
  const keyword = fc.constantFrom(...schemaKeywords.keys(), '$id', '$async', 'x-other', '__proto__', 'constructor');
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    fc.constantFrom<Json>('string', 'object', '#', '#/$defs/a', '^a+$', true, false, 3, ['a'], {
      a: { type: 'string' },
    }),
  );
  const flat = fc.array(fc.tuple(keyword, value), { maxLength: 5 });
  const nested = fc
    .tuple(fc.constantFrom('properties', 'items', 'anyOf', '$defs', 'not'), flat)
    .map(([outer, inner]) => {
      const schema = entriesToJson(inner);
      return [
        outer,
        outer === 'anyOf' ? [schema] : outer === 'items' || outer === 'not' ? schema : { a: schema },
      ] as const;
    });
  const schema = fc.tuple(flat, fc.array(nested, { maxLength: 3 })).map(([a, b]) => entriesToJson([...a, ...b]));
  fc.assert(
    fc.property(schema, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>, (given, subject) => {
      let taken: JsonObject;
      try {
        taken = parseForeignSchema(given);
      } catch (error) {
        assert.ok(error instanceof ForeignSchemaError, String(error));
        return;
      }
      assert.deepEqual(parseForeignSchema(taken), taken, 'what was taken once is taken again');
      new SchemaCheck(taken, 'result', { isForeign: true }).check(structuredClone(subject));
    }),
    { numRuns: 300 },
  );
});

/** Keys such as `__proto__` are ordinary keys, as for the reader of JSON. */
function entriesToJson(entries: readonly (readonly [string, Json])[]): JsonObject {
  const object = Object.create(null) as Record<string, Json>;
  for (const [key, value] of entries) object[key] = value;
  return object;
}
