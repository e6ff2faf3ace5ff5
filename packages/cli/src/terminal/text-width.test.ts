import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { breakWords, foldLines, padText, textWidth, truncateText, wrapWords } from './text-width.ts';

test('wide characters count twice and combining ones not at all', () => {
  assert.equal(textWidth('abc'), 3);
  assert.equal(textWidth('日本'), 4);
  assert.equal(textWidth('e\u0301'), 1);
  assert.equal(padText('日本', 6), '日本  ');
  for (const wide of ['⭐', '⌚', '❤\ufe0f', '🀄', '\u{1f1e6}', '\u{1b000}', '\u{17000}'])
    assert.equal(textWidth(wide), 2, wide);
  // A mark that stands beside its letter.
  assert.equal(textWidth('\u0915\u093e'), 2);
});

test('a text that is too long ends in an ellipsis and fits', () => {
  assert.equal(truncateText('read a file', 8), 'read a…');
  assert.equal(truncateText('short', 5), 'short');
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: 2, max: 40 }),
      (text, width) => textWidth(truncateText(text, width)) <= width,
    ),
  );
});

test('folding keeps every character and every row fits', () => {
  assert.deepEqual(foldLines('abcdef\n\nxy', 4), ['abcd', 'ef', '', 'xy']);
  const noTabs = fc.string().map((text) => text.replaceAll('\t', ' '));
  fc.assert(
    fc.property(noTabs, fc.integer({ min: 2, max: 20 }), (text, width) => {
      const rows = foldLines(text, width);
      assert.equal(rows.join(''), text.replaceAll('\n', ''));
      assert.ok(rows.every((row) => textWidth(row) <= width));
    }),
  );
});

test('prose breaks between words, and a long word is left whole', () => {
  assert.deepEqual(wrapWords('one two three', 8), ['one two', 'three']);
  assert.deepEqual(wrapWords('a /very/long/path b', 6), ['a', '/very/long/path', 'b']);
});

test('a word that is longer than the line is broken where it has to be', () => {
  assert.equal(breakWords('a /very/long/path b', 6), 'a /very/\nlong/p\nath b');
  assert.equal(breakWords('one two', 6), 'one two');
});
