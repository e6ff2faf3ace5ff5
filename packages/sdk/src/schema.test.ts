import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from './json.ts';
import {
  anything,
  array,
  boolean,
  choice,
  integer,
  nullable,
  number,
  object,
  optional,
  record,
  string,
} from './schema.ts';
import type { ValueOf } from './schema.ts';

type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : false) : false;

test('a schema is plain JSON Schema, with the options as keywords', () => {
  assert.deepEqual(string({ description: 'A text', maxLength: 3, pattern: '^a' }), {
    type: 'string',
    description: 'A text',
    maxLength: 3,
    pattern: '^a',
  });
  assert.deepEqual(number({ minimum: 0 }), { type: 'number', minimum: 0 });
  assert.deepEqual(integer(), { type: 'integer' });
  assert.deepEqual(boolean({ default: false }), { type: 'boolean', default: false });
  assert.deepEqual(choice(['a', 'b']), { enum: ['a', 'b'] });
  assert.deepEqual(array(string(), { minItems: 1 }), { type: 'array', items: { type: 'string' }, minItems: 1 });
  assert.deepEqual(record(integer()), { type: 'object', additionalProperties: { type: 'integer' } });
  assert.deepEqual(nullable(string()), { anyOf: [{ type: 'string' }, { type: 'null' }] });
  assert.deepEqual(anything(), {});
});

test('an object requires what is neither optional nor has a default, and takes nothing else', () => {
  const schema = object(
    { a: string(), b: optional(integer()), c: integer({ default: 3 }) },
    { description: 'All of it' },
  );
  assert.deepEqual(schema, {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'integer', default: 3 } },
    required: ['a'],
    additionalProperties: false,
    description: 'All of it',
  });
  assert.deepEqual(object({ b: optional(integer()) })['required'], undefined);
});

test('a property may itself be called optional or default', () => {
  const schema = object({ optional: string(), default: optional(object({ optional: integer() })) });
  assert.deepEqual(schema['required'], ['optional']);
  assert.deepEqual((schema['properties'] as JsonObject)['default'], object({ optional: integer() }));
});

test('the TypeScript type follows from the schema', () => {
  const schema = object({
    a: string(),
    b: optional(array(integer())),
    c: choice(['x', 'y', 1], { default: 'x' }),
    d: nullable(object({ e: boolean() })),
    f: record(number()),
  });
  interface Expected {
    readonly a: string;
    readonly b?: readonly number[];
    readonly c: 'x' | 'y' | 1;
    readonly d: { readonly e: boolean } | null;
    readonly f: Readonly<Record<string, number>>;
  }
  const isExpected: Same<ValueOf<typeof schema>, Expected> = true;
  const plain = { type: 'object', properties: { a: { type: 'string' } } } as const;
  const isAnyObject: Same<ValueOf<typeof plain, JsonObject>, JsonObject> = true;
  assert.ok(isExpected && isAnyObject);
  // @ts-expect-error A default must be one of the choices.
  choice(['x', 'y'], { default: 'z' });
  // @ts-expect-error There is no such keyword for a text.
  string({ minimum: 3 });
});
