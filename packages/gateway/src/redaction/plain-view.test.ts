import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasHiddenText } from '@sallyport/contract';
import { viewPlain } from './plain-view.ts';

const read = (text: string): string => viewPlain(text)?.text ?? text;
const json = (text: string): string => JSON.stringify(text).slice(1, -1);

test('a text reads the same however often it was escaped', () => {
  for (const text of [
    'p"a\\s/s',
    "it's <b> & co",
    'C:\\new\\table',
    'über die Brücke',
    '100% of\u0007it',
    'two\nlines',
  ]) {
    const spelled = json(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    for (const escaped of [json(text), json(json(text)), json(json(json(text))), spelled, json(spelled)]) {
      assert.equal(read(escaped), read(text), escaped);
    }
  }
  const signs = `a&b<c>"d"'e'%f g`;
  assert.equal(read(encodeURIComponent(encodeURIComponent(json(signs)))), read(signs));
  assert.equal(read('a&amp;amp;b&amp;lt;c'), 'a&b<c');
});

test('colours and the ends of lines are read over, also where they are escaped', () => {
  for (const text of ['pass\x1b[31mword\x1b[0m', 'pass\\u001b[1;31mword', 'pass\\x1b[0Kword', 'pass%1B%5B0mword']) {
    assert.equal(read(text), 'password', text);
  }
  for (const text of ['pass\nword', 'pass\r\n    word', 'pass\\n  word', 'pass\\\\nword', 'pass%0Aword']) {
    assert.equal(read(text), 'password', text);
  }
});

test('whatever hides from a reader is read over, and so are accents', () => {
  const missed: string[] = [];
  for (let point = 0x20; point <= 0x10ffff; point++) {
    const isSurrogate = point >= 0xd800 && point <= 0xdfff;
    const character = String.fromCodePoint(point);
    const isAccent = point >= 0x300 && point <= 0x36f;
    if (isSurrogate || !(isAccent || hasHiddenText(character))) continue;
    if (read(`pass${character}word`) !== 'password') missed.push(point.toString(16));
  }
  assert.deepEqual(missed, []);
});

test('what was found is located in the text as it stands, escapes included', () => {
  const text = 'it is \\"p\\u0041ss%2Fword\\" now';
  const view = viewPlain(text);
  const at = view?.text.indexOf('pAss/word') ?? -1;
  const span = view?.locate(at, at + 'pAss/word'.length);
  assert.equal(text.slice(span?.start, span?.end), 'p\\u0041ss%2Fword');
  assert.equal(viewPlain('nothing is escaped here'), undefined);
});

test('the time grows with the text only, whatever it is made of', () => {
  const most = 400_000;
  for (const piece of ['\\', '%25', '%', '\x1b[', '\x1b[1;', '&amp;', '\n ', '%5c', '\\u', '\\u00']) {
    const startedAtMs = performance.now();
    viewPlain(piece.repeat(most / piece.length));
    // Far more than it takes on a busy machine; what grows faster than the text takes minutes.
    assert.ok(performance.now() - startedAtMs < 20_000, JSON.stringify(piece));
  }
});
