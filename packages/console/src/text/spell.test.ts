import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spellHidden } from './spell.ts';

const shown = (text: string): string =>
  spellHidden(text)
    .map((piece) => (piece.isSpelled ? `[${piece.text}]` : piece.text))
    .join('');

describe('text from outside', () => {
  it('is shown as it is when nothing in it hides', () => {
    const text = 'Grüße, 世界 👋🏽 שלום\n\tindented';
    assert.deepEqual(spellHidden(text), [{ text, isSpelled: false }]);
  });

  it('has its controls, bidirectional marks and invisible characters spelled out', () => {
    assert.equal(shown('a\u202eb'), 'a[U+202E]b');
    assert.equal(shown('\u0000\u001b[31m\r'), '[U+0000][U+001B][31m[U+000D]');
    assert.equal(shown('x\u200b\u2066\u00ad\u{e0041}'), 'x[U+200B][U+2066][U+00AD][U+E0041]');
    assert.equal(shown('\u2028\ud800'), '[U+2028][U+D800]');
  });
});
