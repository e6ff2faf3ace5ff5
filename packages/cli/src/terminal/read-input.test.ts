import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { composeInput, findTexts, readInput } from './read-input.ts';

test('a value that reads as JSON is JSON, anything else is a string', () => {
  const input = composeInput(['path=notes.md', 'limit=3', 'all=true', 'tags=["a"]', 'text=a=b', 'empty=']);
  assert.deepEqual(JSON.parse(input), { path: 'notes.md', limit: 3, all: true, tags: ['a'], text: 'a=b', empty: '' });
});

test('for an argument that is text, what looks like a number is text', () => {
  const texts = findTexts('{"properties":{"content":{"type":"string"},"limit":{"type":"integer"},"any":{}}}');
  const input = composeInput(['content=123', 'limit=3', 'any=4'], texts);
  assert.deepEqual(JSON.parse(input), { content: '123', limit: 3, any: 4 });
  assert.deepEqual(JSON.parse(composeInput(['content="a\\nb"'], texts)), { content: 'a\nb' });
  assert.deepEqual(JSON.parse(composeInput(['content={"a":1}'], texts)), { content: '{"a":1}' });
  assert.deepEqual([...findTexts(undefined)], []);
});

test('a number too long for this program is passed on as it was typed', () => {
  assert.equal(composeInput(['id=12345678901234567890']), '{"id":12345678901234567890}');
});

test('a key given twice, or a word without a value, is refused', () => {
  assert.throws(() => composeInput(['a=1', 'a=2']), /given twice/);
  assert.throws(() => composeInput(['notes.md']), /key=value/);
  assert.throws(() => composeInput(['=x']), /key=value/);
});

test('the input comes from one place only', () => {
  assert.throws(() => readInput({ input: '{}', pairs: ['a=1'] }), /once/);
  assert.equal(readInput({ pairs: [] }), '{}');
  assert.equal(readInput({ input: '{"a" : 1}', pairs: [] }), '{"a" : 1}');
});

test('a file is read whole, and one that is missing or not text is said to be so', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-input-'));
  try {
    writeFileSync(join(folder, 'input.json'), '{"path":"ü"}');
    writeFileSync(join(folder, 'bytes'), Buffer.of(0x7b, 0xff, 0x7d));
    assert.equal(readInput({ inputFile: join(folder, 'input.json'), pairs: [] }), '{"path":"ü"}');
    assert.throws(() => readInput({ inputFile: join(folder, 'bytes'), pairs: [] }), /not UTF-8/);
    assert.throws(() => readInput({ inputFile: join(folder, 'none'), pairs: [] }), /cannot be read: no such file/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
