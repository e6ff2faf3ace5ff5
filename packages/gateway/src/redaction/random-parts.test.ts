import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRandomParts } from './random-parts.ts';

const partsOf = (text: string): string[] => findRandomParts(text).map(({ start, end }) => text.slice(start, end));

test('words are no part of what is random, whatever stands between them', () => {
  for (const text of [
    'correct horse battery staple',
    'correct-horse_battery.staple',
    'the cat sat on the mat',
    'SomeServiceAccountName',
    'production/database/password',
    'https://example.com/',
    'some%2Fordinary%2Fpath',
    'mongodb+srv://someone@cluster.example.net',
  ]) {
    assert.deepEqual(partsOf(text), [], text);
  }
});

test('what is no word is random as a whole, although words come about in it by chance', () => {
  for (const text of [
    'kJ83hs0YqLm2PzXw9BnR',
    'x7bent4qz9wk2here1vp',
    'qzxvkwjtphbdgfmc',
    '密码口令钥匙锁门',
    'D2/O8eGOOYO6o',
    'FEquK/nIGIou/msrNUR',
  ]) {
    assert.deepEqual(partsOf(text), [text], text);
  }
});

test('in a long text signs make pieces that look like words, which are random all the same', () => {
  const noise = 'k8%Jq"zX4&vB7#pWr2!mT9/hG5^';
  const text = `${noise.repeat(3)}"theres"${noise.repeat(3)}`;
  assert.deepEqual(partsOf(text), [text]);
  const key = 'PRIVATE+KEY+sallyport/0f9d3c1e0123456789ab+6f23523b+ActdxqxncohBjJy2bW9EbTRXIS7y6TXINVYxI/XhzQMl01234';
  assert.ok(
    partsOf(key).every((part) => !part.includes('sallyport')),
    'long words are words anywhere',
  );
});

test('between words only what is long and varied enough counts', () => {
  assert.deepEqual(partsOf('postgres://app:R4w5voFMx1@example.com'), ['app:R4w5voFMx1@']);
  assert.deepEqual(partsOf('number 0000000000000 and ---------- ruler'), []);
  assert.deepEqual(partsOf('version 1.2.3 of example'), []);
});
