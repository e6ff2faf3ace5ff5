import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { checkSchema } from './check-schema.ts';
import { checkValue } from './check-value.ts';
import type { Json, JsonObject } from './json.ts';
import { array, choice, integer, object, optional, string } from './schema.ts';

test('every problem is told at once, by the name of the field', () => {
  const schema = object({
    text: string({ minLength: 2 }),
    size: integer({ minimum: 1, maximum: 9 }),
    kind: choice(['a', 'b']),
    list: array(object({ id: integer() }), { uniqueItems: true }),
    other: optional(string()),
  });
  const list = [{ id: 1 }, { id: 'x' }, { id: 1 }, {}];
  assert.deepEqual(checkValue({ text: 'x', size: 10, kind: 'c', list, extra: true }, schema, ''), [
    'text must have at least 2 characters',
    'size must be at most 9',
    'kind must be one of "a", "b"',
    'list[1].id must be integer',
    'list[3].id is required',
    'list must not contain the same item twice',
    'extra is not known; use text, size, kind, list, other',
  ]);
  assert.deepEqual(checkValue({ text: 'xy', size: 9, kind: 'a', list: [] }, schema, ''), []);
});

test('defaults are filled in, also inside objects, and never shared between calls', () => {
  const schema = object({ tags: array(string(), { default: ['a'] }), inner: object({ n: integer({ default: 1 }) }) });
  const first = { inner: {} } as unknown as { inner: Json; tags: string[] };
  assert.deepEqual(checkValue(first as unknown as JsonObject, schema, ''), []);
  assert.deepEqual(first, { tags: ['a'], inner: { n: 1 } });
  first.tags.push('b');
  const second = { inner: {} };
  checkValue(second, schema, '');
  assert.deepEqual(second, { tags: ['a'], inner: { n: 1 } });
});

test('what one of several forms would fill in stays out of the value', () => {
  const schema = { anyOf: [object({ a: integer({ default: 1 }), b: integer() }), object({ c: integer() })] };
  const value = { c: 1 };
  assert.deepEqual(checkValue(value, schema, ''), []);
  assert.deepEqual(value, { c: 1 });
});

test('names from the prototype are ordinary names', () => {
  const schema = { type: 'object', properties: { a: {} }, required: ['toString'], additionalProperties: false };
  assert.match(
    checkValue(JSON.parse('{"__proto__": 1}') as Json, schema, '').join(),
    /toString is required.*__proto__/,
  );
});

test('references lead into the schema, also to itself', () => {
  const tree = {
    $defs: { 'a/b': { type: 'object', properties: { next: { $ref: '#/$defs/a~1b' }, n: { type: 'integer' } } } },
    $ref: '#/$defs/a~1b',
  };
  assert.deepEqual(checkValue({ next: { next: { n: 1 } } }, tree, ''), []);
  assert.deepEqual(checkValue({ next: { next: { n: 'x' } } }, tree, ''), ['next.next.n must be integer']);
});

test('a schema that is wrong, or says more than can be checked, is refused by name', () => {
  const wrong: [JsonObject, RegExp][] = [
    [{ type: 'object', properties: { a: { typ: 'string' } } }, /input\.properties\.a\.typ is not supported/],
    [{ properties: { a: { type: 'text' } } }, /input\.properties\.a\.type is "text"; use null, /],
    [{ anyOf: {} }, /input\.anyOf must be a list/],
    [{ properties: [] }, /input\.properties must be an object/],
    [{ items: 3 }, /input\.items is not a JSON Schema/],
    [{ $ref: '#/$defs/none' }, /#\/\$defs\/none, which it does not contain/],
    [{ $ref: 'https://example.com/schema' }, /which it does not contain/],
    [{ pattern: '(' }, /Invalid regular expression/],
    [{ if: {} }, /input\.if is not supported/],
  ];
  checkSchema({ type: 'object', 'x-remark': { any: 'thing' } }, 'input');
  for (const [schema, message] of wrong) assert.throws(() => checkSchema(schema, 'input'), message);
});

const scalar = fc.oneof(
  fc.constantFrom(null, true, false, '', 'a', 'ab', '💧', 'b9'),
  fc.integer({ min: -4, max: 4 }),
  fc.constantFrom(0.5, -2.5, -0),
);
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const bound = fc.integer({ min: -3, max: 3 });
const count = fc.integer({ min: 0, max: 3 });
const keyword = (name: string, of: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> =>
  of.map((held) => ({ [name]: held as Json }));
const { schema } = fc.letrec<{ schema: Json; list: Json[] }>((tie) => ({
  list: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.boolean(),
    fc
      .array(
        fc.oneof(
          keyword('type', fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object')),
          keyword('type', fc.uniqueArray(fc.constantFrom('null', 'integer', 'string', 'object'), { minLength: 1 })),
          keyword('enum', fc.uniqueArray(value, { minLength: 1, maxLength: 3, comparator: 'SameValue' })),
          keyword('const', value),
          ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((name) => keyword(name, bound)),
          keyword('multipleOf', fc.constantFrom(1, 2, 0.5)),
          ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map((name) =>
            keyword(name, count),
          ),
          keyword('pattern', fc.constantFrom('^a', 'b$', '[0-9]')),
          keyword('uniqueItems', fc.boolean()),
          keyword('required', fc.uniqueArray(fc.constantFrom('a', 'b', 'd'))),
          ...['items', 'additionalProperties', 'not'].map((name) => keyword(name, tie('schema'))),
          ...['prefixItems', 'allOf', 'anyOf', 'oneOf'].map((name) => keyword(name, tie('list'))),
          keyword(
            'properties',
            fc.dictionary(fc.constantFrom('a', 'b', 'd'), tie('schema'), { maxKeys: 3, noNullPrototype: true }),
          ),
        ),
        { maxLength: 3 },
      )
      .map((parts) => Object.assign({}, ...parts) as JsonObject),
  ),
}));

/** Undefined where the complete validator itself stumbles: it makes code of some schemas that does not run. */
function isValid(validate: ValidateFunction, held: Json): boolean | undefined {
  try {
    return validate(held);
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

test('it agrees with a complete validator about every schema it takes', () => {
  const objects = schema.filter((each): each is JsonObject => typeof each === 'object');
  fc.assert(
    fc.property(objects, fc.array(value, { minLength: 1, maxLength: 4 }), (described, values) => {
      checkSchema(described, 'input');
      const options = { strict: false, meta: false, validateSchema: false, ownProperties: true };
      const validate = new Ajv2020(options).compile(described);
      for (const each of values) {
        const expected = isValid(validate, each);
        fc.pre(expected !== undefined);
        assert.equal(checkValue(each, described, '').length === 0, expected, JSON.stringify([described, each]));
      }
    }),
    { numRuns: 300 },
  );
});
