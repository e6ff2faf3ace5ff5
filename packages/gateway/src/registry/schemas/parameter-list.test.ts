import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { SchemaCheck } from './check-schema.ts';
import { parseParameters, schemaFromParameters } from './parameter-list.ts';

test('each parameter becomes a property, and what is neither optional nor has a default is required', () => {
  requirement('DEF-2');
  const schema = schemaFromParameters([
    { name: 'path', type: 'string', description: 'Which file.' },
    { name: 'limit', type: 'number', description: 'How many.', required: false },
    { name: 'wrap', type: 'boolean', description: 'Whether.', default: false },
    { name: 'size', type: 'number', description: 'How large.', required: true, default: 0 },
    { name: 'kind', type: 'string', description: 'Null is no default.', default: null },
  ]);
  assert.deepEqual(JSON.parse(JSON.stringify(schema)), {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Which file.' },
      limit: { type: 'number', description: 'How many.' },
      wrap: { type: 'boolean', description: 'Whether.', default: false },
      size: { type: 'number', description: 'How large.', default: 0 },
      kind: { type: 'string', description: 'Null is no default.' },
    },
    required: ['path', 'kind'],
    additionalProperties: false,
  });
});

test('all five types are checked, and other arguments are refused', () => {
  requirement('DEF-2');
  const values = { string: 'x', number: 1.5, boolean: true, object: { a: 1 }, array: [1] } as const;
  const types = Object.keys(values) as (keyof typeof values)[];
  const check = new SchemaCheck(
    schemaFromParameters(types.map((type) => ({ name: type, type, description: type, required: false }))),
    'arguments',
  );
  for (const type of types) {
    for (const [kind, value] of Object.entries(values)) {
      const violations = check.check({ [type]: value });
      assert.equal(violations.length, kind === type ? 0 : 1, `${kind} for ${type}`);
    }
  }
  assert.equal(check.check({ other: 1 })[0]?.rule, 'unknown');
});

test('defaults are there before the value is checked', () => {
  requirement('DEF-2');
  const check = new SchemaCheck(
    schemaFromParameters([{ name: 'list', type: 'array', description: 'Some.', default: [1, 2] }]),
    'arguments',
  );
  const value: JsonObject = {};
  assert.deepEqual(check.check(value), []);
  assert.deepEqual(value['list'], [1, 2]);
});

test('a name that stands twice is a mistake of the author; a name of JavaScript is a name', () => {
  const twice = [1, 2].map(() => ({ name: 'path', type: 'string', description: '' }) as const);
  assert.throws(() => schemaFromParameters(twice), /path stands twice/);
  const schema = schemaFromParameters([{ name: 'constructor', type: 'string', description: '' }]);
  assert.deepEqual(schema['required'], ['constructor']);
});

test('a default of another type is a mistake of the author', () => {
  const wrong = { name: 'size', type: 'number', description: '', default: '10' } as const;
  assert.throws(() => schemaFromParameters([wrong]), /default of size is not of type number/);
});

test('a list that a program printed is taken whole or not at all', () => {
  const path = { name: 'path', type: 'string', description: 'Which file.', required: true, default: null };
  assert.deepEqual(parseParameters([path]), [path]);
  for (const wrong of [
    {},
    [5],
    [{ type: 'string' }],
    [{ ...path, type: 'file' }],
    [{ ...path, required: 'yes' }],
    [{ ...path, description: 5 }],
    [{ ...path, maxLength: 3 }],
  ]) {
    assert.throws(() => parseParameters(wrong), { name: 'DescriptionError' }, JSON.stringify(wrong));
  }
});

test('no parameters make a schema that takes none', () => {
  const check = new SchemaCheck(schemaFromParameters([]), 'arguments');
  assert.deepEqual(check.check({}), []);
  assert.equal(check.check({ a: 1 }).length, 1);
});
