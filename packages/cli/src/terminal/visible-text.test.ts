import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeVisible, makeVisibleLine, visibleJson } from './visible-text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });
const dangerous = /[\p{Cc}\p{Bidi_Control}\u200b-\u200d\u2028\u2029\u2060\ufeff]/u;

test('escape sequences, direction marks and invisible characters are spelled out', () => {
  assert.equal(makeVisible('\u001b]0;title\u0007'), String.raw`\e]0;title\u0007`);
  assert.equal(makeVisible('user\u202egnp.exe'), String.raw`user\u202egnp.exe`);
  assert.equal(makeVisible('\u009b31m'), String.raw`\u009b31m`);
  assert.equal(makeVisible('a\u200bb\rc\u{e0041}'), String.raw`a\u200bb\rc\u{e0041}`);
});

test('ordinary text of any language, lines and tabs stay as they are', () => {
  const text = 'Füße\n\t日本語 ⚠️ naïve';
  assert.equal(makeVisible(text), text);
});

test('no text moves the cursor of a terminal', () => {
  fc.assert(fc.property(anyText, (text) => !dangerous.test(makeVisible(text).replaceAll(/[\n\t]/g, ''))));
  fc.assert(fc.property(anyText, (text) => !dangerous.test(makeVisibleLine(text))));
});

test('each replacement can be set off from the text around it', () => {
  assert.equal(
    makeVisible('a\rb', (escape) => `<${escape}>`),
    String.raw`a<\r>b`,
  );
});

test('JSON for scripts is safe on a terminal and reads back as the same value', () => {
  fc.assert(
    fc.property(fc.dictionary(anyText, anyText), (value) => {
      const text = visibleJson(value);
      assert.ok(!dangerous.test(text));
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    }),
  );
});
