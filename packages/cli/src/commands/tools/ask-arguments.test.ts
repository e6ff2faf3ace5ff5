import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askArguments, readValue } from './ask-arguments.ts';

const schema = {
  type: 'object',
  required: ['text'],
  properties: {
    mode: { enum: ['words', 'lines'] },
    count: { type: 'integer' },
    text: { type: 'string', description: 'What to count' },
    options: { type: 'object', properties: { inner: { type: 'string' } } },
  },
};

/** Somebody who types these lines, and the questions they saw. */
async function fill(lines: readonly string[], before: Record<string, unknown> = {}, of: object = schema) {
  const asked: string[] = [];
  const printed: string[] = [];
  const left = [...lines];
  const given = await askArguments(
    of as Record<string, unknown>,
    before,
    (question) => {
      asked.push(question.trim());
      return Promise.resolve(left.shift());
    },
    { print: (...more) => void printed.push(...more), paint: (_tone, text) => text },
  );
  return { given, asked, printed };
}

test('every argument of the schema is asked for, those that are required first', async () => {
  const { given, asked, printed } = await fill(['a b', 'words', '3', '{"inner":"x"}']);
  assert.deepEqual(given, { text: 'a b', mode: 'words', count: 3, options: { inner: 'x' } });
  assert.deepEqual(asked, [
    'text (string, required):',
    'mode ("words" | "lines"):',
    'count (integer):',
    'options (object):',
  ]);
  assert.ok(printed.includes('  What to count'));
});

test('what was given before is offered again, and can be left out', async () => {
  const before = { text: 'a b', mode: 'words', count: 3 };
  const { given, asked } = await fill(['', '-', '', ''], before);
  assert.deepEqual(given, { text: 'a b', count: 3 });
  assert.equal(asked[0], 'text (string, required) [a b]:');
});

test('what does not read as its type is asked for again', async () => {
  const { given, asked } = await fill(['', '""', 'pages', '', 'many', '2.5', '2', 'no', '']);
  assert.deepEqual(given, { text: '', count: 2 });
  assert.equal(asked.length, 9);
});

test('a tool that names no arguments takes one JSON object', async () => {
  assert.deepEqual((await fill(['[1]', '{"a":1}'], {}, { type: 'object' })).given, { a: 1 });
  assert.deepEqual((await fill([''], { b: 2 }, { type: 'object' })).given, { b: 2 });
});

test('the end of input leaves the form', async () => {
  assert.equal((await fill(['a'])).given, undefined);
});

test('a value is what its type says, and a text only where a text may be', () => {
  const values: readonly (readonly [typed: string, type: string, value: unknown])[] = [
    ['12', 'string', '12'],
    ['"12"', 'string', '12'],
    ['12', 'integer', 12],
    ['1.5', 'number', 1.5],
    ['true', 'boolean', true],
    ['[1]', 'integer[]', [1]],
    ['words', '"words" | "lines"', 'words'],
    ['"lines"', '"words" | "lines"', 'lines'],
    ['free', 'any', 'free'],
    ['{"a":1}', 'any', { a: 1 }],
  ];
  for (const [typed, type, value] of values) assert.deepEqual(readValue(typed, type), { value }, `${typed} as ${type}`);
  for (const [typed, type] of [
    ['1.5', 'integer'],
    ['yes', 'boolean'],
    ['1', 'integer[]'],
    ['{', 'object'],
    ['[]', 'object'],
    ['pages', '"words" | "lines"'],
    ['', 'string'],
  ] as const) {
    assert.equal(readValue(typed, type), undefined, `${typed} as ${type}`);
  }
});
