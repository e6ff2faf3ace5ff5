import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaValidator } from './schema-validator.ts';

const validate = (schema: object, value: unknown) => schemaValidator.getValidator(schema)(value);

test('values are checked and what was handed in is left as it is', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', default: 3 } } };
  const value = {};
  assert.deepEqual(validate(schema, value), { valid: true, data: { n: 3 }, errorMessage: undefined });
  assert.deepEqual(value, {});
  assert.equal(validate(schema, { n: 'x' }).valid, false);
});

test('schemas that break other validators fit no value, and do no harm', () => {
  assert.equal(validate({ $async: true, type: 'object' }, {}).valid, false);
  assert.equal(validate({ $id: 'same', type: 'object' }, {}).valid, false);
  const slow = { type: 'string', pattern: '^(a+)+$' };
  assert.equal(validate(slow, `${'a'.repeat(50_000)}!`).valid, false);
});
