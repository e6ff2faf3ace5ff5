import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeArguments, inventArguments } from './describe-schema.ts';
import { spellInvocation } from './tool-show.ts';

const schema = {
  type: 'object',
  required: ['path', 'lines'],
  properties: {
    path: { type: 'string', description: 'Which file.', examples: ['notes.md'] },
    lines: { type: 'integer', minimum: 1 },
    order: { enum: ['asc', 'desc'], default: 'asc' },
    tags: { type: 'array', items: { type: 'string' } },
    options: { type: 'object', required: ['deep'], properties: { deep: { type: ['boolean', 'null'] } } },
  },
};

test('every argument is told with its type, its need and its description', () => {
  assert.deepEqual(
    describeArguments(schema).map(({ name, type, need, description }) => [name, type, need, description]),
    [
      ['path', 'string', 'required', 'Which file.'],
      ['lines', 'integer', 'required', ''],
      ['order', '"asc" | "desc"', '= "asc"', ''],
      ['tags', 'string[]', '', ''],
      ['options', 'object', '', ''],
      ['options.deep', 'boolean | null', 'required', ''],
    ],
  );
});

test('a hostile schema is described without recursion or a crash', () => {
  const endless: Record<string, unknown> = { type: 'object' };
  endless['properties'] = { again: endless };
  assert.equal(describeArguments(endless).length, 3);
  assert.deepEqual(
    describeArguments({ properties: { a: null, b: 7 }, required: 'a' }).map(({ type }) => type),
    ['any', 'any'],
  );
});

test('the example fills in what is required, and is written so that it reads back', () => {
  assert.equal(spellInvocation('files.read', inventArguments(schema)), 'tool invoke files.read path=notes.md lines=1');
  const either = { properties: { a: { type: 'string' }, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] };
  assert.equal(spellInvocation('x', inventArguments(either)), 'tool invoke x a=A');
  assert.equal(spellInvocation('x', { text: 'it is' }), `tool invoke x 'text=it is'`);
  assert.equal(spellInvocation('x', { id: '7' }), `tool invoke x --input '{"id":"7"}'`);
  assert.equal(spellInvocation('x', {}), 'tool invoke x');
});
