import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  dropHiddenText,
  hasHiddenText,
  hasHiddenTextOrLines,
  makeVisible,
  makeVisibleLine,
  spellHidden,
} from './visible-text.ts';

/** Each of these would not be seen, by what it does. */
const unseen = {
  controls: ['\u0000', '\u0007', '\r', '\u007f', '\u0085'],
  'escape sequences': ['\u001b', '\u009b'],
  'direction marks': ['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'],
  'zero width': ['\u00ad', '\u034f', '\u200b', '\u200c', '\u200d', '\u2060', '\u2063', '\ufeff'],
  'line separators': ['\u2028', '\u2029'],
  tags: ['\u{e0001}', '\u{e0041}', '\u{e007f}'],
  'variation selectors': ['\u180b', '\ufe00', '\ufe0e', '\ufe0f', '\u{e0100}', '\u{e01ef}'],
  fillers: ['\u115f', '\u1160', '\u17b4', '\u3164', '\uffa0'],
  blanks: ['\u2800', '\ufffc', '\u{13441}', '\u{16fe4}', '\u{1d159}'],
  'halves of characters': ['\ud800', '\udc00'],
} as const;
/** Seen as a gap, or drawn differently on each screen. */
const doubtful = ['\u00a0', '\u1680', '\u2003', '\u2007', '\u202f', '\u205f', '\u3000', '\ue000', '\u{10ffff}'];

for (const [kind, characters] of Object.entries(unseen)) {
  test(`nothing hides: ${kind}`, () => {
    for (const character of characters) {
      const code = character.codePointAt(0)?.toString(16) ?? '';
      const shown = makeVisible(`a${character}b`);
      assert.match(shown, /^a\\(?:r|e|u\{?[0-9a-f]{4,6}\}?)b$/, code);
      assert.equal(hasHiddenTextOrLines(`a${character}b`), true, code);
      if (!/[\n\r\t]/.test(character)) assert.equal(dropHiddenText(`a${character}b`), 'ab', code);
      const pieces = spellHidden(`a${character}b`);
      assert.deepEqual(
        pieces.map(({ isSpelled }) => isSpelled),
        [false, true, false],
      );
      assert.equal(pieces.map(({ text }) => text).join(''), shown);
    }
  });
}

test('unusual spaces and characters without a picture are spelled out, and are no reason to refuse a text', () => {
  for (const character of doubtful) {
    assert.match(makeVisible(`a${character}b`), /^a\\u\{?[0-9a-f]{4,6}\}?b$/);
    assert.equal(hasHiddenText(`a${character}b`), false);
  }
});

test('escapes are spelled as people know them', () => {
  assert.equal(makeVisible('\u001b]0;title\u0007'), String.raw`\e]0;title\u0007`);
  assert.equal(makeVisible('user\u202egnp.exe'), String.raw`user\u202egnp.exe`);
  assert.equal(makeVisible('a\u200bb\rc\u{e0041}'), String.raw`a\u200bb\rc\u{e0041}`);
  assert.equal(makeVisibleLine('a\n\tb'), String.raw`a\n\tb`);
});

test('a long run of the same character is counted, so that it pushes nothing out of sight', () => {
  assert.equal(makeVisible(`ls${'\u3000'.repeat(200)}; rm`), String.raw`ls[200 × \u3000]; rm`);
  assert.equal(makeVisible(`ls${'\u{e0041}'.repeat(9)}`), String.raw`ls[9 × \u{e0041}]`);
  assert.equal(makeVisible('\u2800\u2800'), String.raw`\u2800\u2800`);
});

test('marks that pile up on one letter are spelled out from the fifth on', () => {
  assert.equal(makeVisible(`e${'\u0301'.repeat(4)}`), `e${'\u0301'.repeat(4)}`);
  assert.equal(makeVisible(`e${'\u0301'.repeat(6)}x`), `e${'\u0301'.repeat(4)}${String.raw`\u0301\u0301`}x`);
  assert.equal(hasHiddenText(`e${'\u0336'.repeat(9)}`), true);
});

test('ordinary text of any language, emoji, lines and tabs stay as they are', () => {
  for (const text of [
    'Füße\n\t日本語 naïve',
    'Grüße, 世界 👋🏽 שלום',
    'ok ⚠️ ❤️ 👩‍💻 👩🏽‍🚀 🏳️‍🌈',
    'Tiếng Việt, e\u0301',
    'braille: ⠓⠑⠇⠇⠕',
  ]) {
    assert.equal(makeVisible(text), text);
    assert.equal(hasHiddenText(text), false);
    assert.deepEqual(spellHidden(text), [{ text, isSpelled: false }]);
  }
});

test('joiners are part of some scripts, and hide in others', () => {
  assert.equal(hasHiddenText('می\u200cخواهم'), false);
  assert.equal(hasHiddenText('क\u094d\u200dष'), false);
  assert.equal(hasHiddenText('pass\u200dword'), true);
  assert.equal(makeVisible('می\u200cخواهم'), String.raw`می\u200cخواهم`);
});

test('whatever the text, nothing is left that hides, and nothing visible is lost', () => {
  const text = fc.string({ unit: 'binary', maxLength: 80 });
  fc.assert(
    fc.property(text, (given) => {
      const shown = makeVisible(given);
      assert.doesNotMatch(shown.replaceAll(/[\n\t]/g, ''), /[\p{Cc}\p{Cs}\p{Bidi_Control}\u200b\u200c\u2060\ufeff]/u);
      assert.equal(makeVisible(shown), shown);
      assert.doesNotMatch(makeVisibleLine(given), /[\n\t\r]/);
      const visible = spellHidden(given).filter(({ isSpelled }) => !isSpelled);
      let at = 0;
      for (const piece of visible) {
        at = given.indexOf(piece.text, at);
        assert.notEqual(at, -1);
        at += piece.text.length;
      }
    }),
  );
});

test('each replacement can be set off from the text around it', () => {
  assert.equal(
    makeVisible('a\rb', (escape) => `<${escape}>`),
    String.raw`a<\r>b`,
  );
});
