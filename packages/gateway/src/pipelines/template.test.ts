// oxlint-disable no-template-curly-in-string -- that is how pipelines refer to values
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '@sallyport/contract';
import { FillError, fillTemplate, lookUpIn } from './fill-template.ts';
import { parseText, TemplateError } from './template.ts';

const input = { path: 'a.txt', count: 3, deep: { list: [{ name: 'x' }, null] }, nothing: null };
const steps = new Map<string, Json | undefined>([
  ['read', { content: 'hello', lines: [1, 2] }],
  ['broken', undefined],
]);
const lookUp = lookUpIn({ input, steps });
const fill = (text: string, most = 1000): Json => fillTemplate(parseText(text), lookUp, most);

test('a text that is one reference becomes the value, with its type', () => {
  assert.equal(fill('${input.count}'), 3);
  assert.deepEqual(fill('${steps.read.lines}'), [1, 2]);
  assert.deepEqual(fill('${input.deep.list.0}'), { name: 'x' });
  assert.equal(fill('${input.nothing}'), null);
  assert.equal(fill('${input}'), input);
});

test('inside a longer text a reference is put in as text', () => {
  assert.equal(fill('${input.path} has ${input.count} lines: ${steps.read.content}!'), 'a.txt has 3 lines: hello!');
  for (const text of ['x ${input.deep}', 'x ${steps.read.lines}', 'x ${input.nothing}', 'x ${steps.broken}'])
    assert.throws(() => fill(text), FillError, text);
});

test('what a value does not have itself has no value', () => {
  const absent = ['${input.other}', '${input.deep.list.2}', '${input.path.length}', '${input.constructor}'];
  const odd = ['${input.deep.list.length}', '${input.deep.list.00}', '${input.__proto__}', '${steps.read.content.0}'];
  for (const text of [...absent, ...odd]) assert.throws(() => fill(text), /has no value/, text);
});

test('everything of a step that failed is null', () => {
  assert.equal(fill('${steps.broken}'), null);
  assert.equal(fill('${steps.broken.anything.0}'), null);
});

test('$${ stands for the characters themselves, and a lone $ for itself', () => {
  assert.equal(fill('$${HOME} costs 5$ and $x'), '${HOME} costs 5$ and $x');
  assert.equal(fill('$$'), '$$');
  assert.equal(fill('$$${input.path}'), '$${input.path}');
});

test('what looks like a reference but is not one is refused, not taken as text', () => {
  const expressions = ['${input.a + 1}', '${input.list[0]}', '${input["a"]}', '${process.env.HOME}', '${HOME}'];
  const broken = ['${input.}', '${.input}', '${}', '${steps}', '${ input.a }', '${input.a', 'a ${', '${${input.a}}'];
  for (const text of [...expressions, ...broken]) assert.throws(() => parseText(text), TemplateError, text);
});

test('a short template cannot become an endless value', () => {
  const long = { input: { text: 'x'.repeat(1000), list: ['y'.repeat(1000)] }, steps: new Map() };
  const times = (reference: string) => parseText(reference.repeat(20));
  assert.throws(() => fillTemplate(times('${input.text}'), lookUpIn(long), 10_000), /larger than 10000/);
  const items = Array.from({ length: 20 }, () => parseText('${input.list}'));
  assert.throws(() => fillTemplate({ kind: 'list', items }, lookUpIn(long), 10_000), /larger than 10000/);
});

test('any text without a "$" stands for itself, and any value comes through a reference unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, value) => {
      const plain = text.replaceAll('$', '');
      assert.equal(fill(plain), plain);
      const found = lookUpIn({ input: { value: value as Json }, steps: new Map() });
      assert.equal(fillTemplate(parseText('${input.value}'), found, 1e6), value);
    }),
  );
});
