import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { countValues, SchemaCheck } from './check-schema.ts';

const schema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 5 },
    limit: { type: 'integer', minimum: 1, maximum: 10, default: 7 },
    how: { enum: ['fast', 'slow'] },
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, uniqueItems: true },
    view: { type: 'object', additionalProperties: { type: 'number' } },
  },
};

function violationsOf(value: Json, from: JsonObject = schema): string[] {
  const violations = new SchemaCheck(from, 'arguments').check(value);
  return violations.map(({ field, rule, message }) => `${field} | ${rule} | ${message}`);
}

test('a value that fits has no violations and gets its defaults', () => {
  requirement('DEF-2');
  const value: JsonObject = { path: 'a' };
  assert.deepEqual(violationsOf(value), []);
  assert.deepEqual(value, { path: 'a', limit: 7 });
});

test('every violation has field, rule and a sentence', () => {
  for (const [value, expected] of [
    [{}, 'path | required | path is required'],
    [{ path: 5 }, 'path | type | path must be string'],
    [{ path: '' }, 'path | min_length | path must have at least 1 character'],
    [{ path: 'abcdef' }, 'path | max_length | path must have at most 5 characters'],
    [{ path: 'a', limit: 0 }, 'limit | minimum | limit must be at least 1'],
    [{ path: 'a', how: 'soon' }, 'how | enum | how must be one of "fast", "slow"'],
    [{ path: 'a', limt: 3 }, 'limt | unknown | limt is not an argument; perhaps you mean limit'],
    [{ path: 'a', zzz: 3 }, 'zzz | unknown | zzz is not an argument; use path, limit, how, tags, view'],
    [{ path: 'a', tags: ['ok', 'No'] }, 'tags.1 | pattern | tags.1 must match pattern "^[a-z]+$"'],
    [{ path: 'a', view: { 'a/b~c': 'x' } }, 'view.a/b~c | type | view.a/b~c must be number'],
    [[], ' | type | the arguments must be object'],
  ] as const) {
    assert.deepEqual(violationsOf(value), [expected]);
  }
});

test('a tool without arguments says so', () => {
  const none: JsonObject = { type: 'object', additionalProperties: false };
  assert.deepEqual(violationsOf({ x: 1 }, none), ['x | unknown | x is not an argument; there are none']);
});

test('all violations are listed at once, up to fifty', () => {
  assert.equal(violationsOf({ limit: 0, how: 1, extra: 1 }).length, 4);
  const tags = Array.from({ length: 90 }, () => 1);
  assert.equal(violationsOf({ path: 'a', tags }).length, 50);
});

test('a value too large to list its violations is refused by the first one, without the work of the others', () => {
  const tags = Array.from({ length: 1_000_000 }, () => 1);
  assert.equal(violationsOf({ path: 'a', tags }).length, 1);
});

test('names that callers choose are cut in the answer, and stay well formed', () => {
  const long = `${'k'.repeat(98)}😀${'k'.repeat(1_000_000)}`;
  for (const value of [
    { path: 'a', [long]: 1 },
    { path: 'a', view: { [`${'v'.repeat(190)}${long}`]: 'x' } },
  ]) {
    const [violation = ''] = violationsOf(value);
    assert.ok(violation.length < 700 && violation.isWellFormed(), violation.slice(0, 300));
  }
});

test('values never stand in a violation', () => {
  requirement('AUD-4');
  const value = { path: 'secret-1', how: 'secret-2', tags: ['SECRET'], limit: 'secret-3', view: { a: 'secret-4' } };
  assert.doesNotMatch(violationsOf(value).join(), /secret/i);
});

test('a result is called a result', () => {
  const check = new SchemaCheck(schema, 'result');
  assert.equal(check.check('text')[0]?.message, 'the result must be object');
  assert.equal(check.check({ path: 'a', zzz: 1 })[0]?.message.slice(0, 24), 'zzz is not in the schema');
});

test('what one schema declares does not reach another', () => {
  const withId = (type: string): JsonObject => ({ $id: 'same', $defs: { it: { type } }, $ref: '#/$defs/it' });
  assert.deepEqual(violationsOf('x', withId('string')), []);
  assert.equal(violationsOf('x', withId('number')).length, 1);
});

test('keys of JavaScript are ordinary keys', () => {
  const free: JsonObject = { type: 'object', required: ['constructor', 'toString'] };
  assert.equal(violationsOf({}, free).length, 2);
  const parsed = JSON.parse('{"__proto__":{"x":1},"path":"a"}') as JsonObject;
  assert.match(violationsOf(parsed).join(), /__proto__ \| unknown/);
});

test('unknown formats and keywords are remarks, not errors', () => {
  const remarks: JsonObject = { type: 'string', format: 'no-such-format', 'x-note': 'hello' };
  assert.deepEqual(violationsOf('x', remarks), []);
});

test('every value counts once, containers too', () => {
  for (const [value, count] of [
    [null, 1],
    ['text', 1],
    [[], 1],
    [[1, 2, 3], 4],
    [{ a: 1, b: [2, { c: 3 }] }, 6],
  ] as const) {
    assert.equal(countValues(value, 100), count, JSON.stringify(value));
  }
});

test('counting stops at enough', () => {
  const leaves = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, member) => sum + leaves(member), 1)
      : 1;
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 30 }), (value, enough) => {
      assert.equal(countValues(value as Json, enough), Math.min(enough, leaves(value)));
    }),
  );
});
