import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { blankSpans } from './span.ts';

test('each span becomes one mark, and spans that overlap share it', () => {
  assert.equal(blankSpans('abcdefgh', []), 'abcdefgh');
  assert.equal(blankSpans('abcdefgh', [{ start: 2, end: 4 }]), 'ab[redacted]efgh');
  const overlapping = [
    { start: 3, end: 6 },
    { start: 0, end: 2 },
    { start: 4, end: 5 },
  ];
  assert.equal(blankSpans('abcdefgh', overlapping), '[redacted]c[redacted]gh');
});

test('a span that begins before the end of what is kept goes as a whole', () => {
  assert.equal(blankSpans('abcdefgh', [{ start: 2, end: 6 }], 4), 'ab[redacted]');
  assert.equal(blankSpans('abcdefgh', [{ start: 5, end: 6 }], 4), 'abcd');
});

test('a mark in a text of JSON leaves JSON', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'é', '\u0001'), maxLength: 20 });
  fc.assert(
    fc.property(text, fc.nat(40), fc.nat(40), (value, from, length) => {
      const json = JSON.stringify(value);
      const start = Math.min(1 + from, json.length - 1);
      // Escapes of more than two characters are never cut: nothing that is looked for begins or ends in one.
      const end = Math.min(start + length, json.length - 1);
      if (/\\u/.test(json)) return;
      assert.doesNotThrow(() => JSON.parse(blankSpans(json, [{ start, end }])) as unknown, json);
    }),
  );
});
