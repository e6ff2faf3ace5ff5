import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { showEffect, showTitle } from './show-effect.ts';

test('nothing in an effect turns, hides or moves anything', () => {
  assert.equal(showEffect('run \u202esafe\u001b[2J\u200b'), String.raw`run \u202esafe\e[2J\u200b`);
  const dangerous = /[\p{Cc}\p{Bidi_Control}\u200b-\u200d\u2060\ufeff]/u;
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
      assert.doesNotMatch(showEffect(text).replaceAll(/[\n\t]/g, ''), dangerous);
    }),
  );
});

test('emptiness that pushes something out of sight is named', () => {
  assert.equal(showEffect(`echo ok${' '.repeat(200)}; rm -rf /`), 'echo ok[200 spaces]; rm -rf /');
  assert.equal(showEffect(`a${'\t'.repeat(25)}b`), 'a[25 tabs]b');
  assert.equal(showEffect(`a${' \t'.repeat(40)}b`), 'a[80 spaces and tabs]b');
  assert.equal(showEffect(`ls${'\u2003'.repeat(300)}; rm`), String.raw`ls[300 × \u2003]; rm`);
  assert.equal(showTitle(`Run ls${' '.repeat(300)};\trm\n`), String.raw`Run ls[300 spaces];\trm\n`);
  assert.equal(showEffect(`+a\n${'+\n'.repeat(40)}+b\n`), '+a\n[40 empty lines]\n+b\n');
});

test('ordinary effects stay as they are, however long their lines', () => {
  const diff = `--- a\n+++ a\n@@ -1,2 +1,2 @@\n-old\n+${'x'.repeat(5000)}\n \n\tindented\n`;
  assert.equal(showEffect(diff), diff);
});

test('what was said comes through whole: only emptiness is shortened', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 20 });
  const gaps = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(words, gaps, (list, width) => {
      const shown = showEffect(list.join(' '.repeat(width)));
      assert.equal(
        shown
          .replaceAll(/\[\d+ spaces\]/g, ' ')
          .split(/ +/)
          .join(' '),
        list.join(' '),
      );
    }),
  );
});
