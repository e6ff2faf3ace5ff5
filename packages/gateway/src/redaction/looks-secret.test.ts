import assert from 'node:assert/strict';
import { test } from 'node:test';
import { looksSecret } from './looks-secret.ts';

const looks = (value: string, after = ''): boolean => looksSecret(`x ${value}${after}`, 2, 2 + value.length);

test('random texts and texts with digits look secret', () => {
  for (const value of [
    'hunter2',
    'swordfish-42',
    'kJd83hsYq',
    'dGhpcyBpcyBub3Qgc28gc2VjcmV0',
    'QzPwLmXvBnRtYsKd',
    'a1.b2c3',
  ]) {
    assert.ok(looks(value), value);
  }
});

test('words, names of types, references, calls and repetitions do not', () => {
  for (const value of [
    'string',
    'required',
    'CancellationToken',
    'process.env.SECRET',
    'words-with-dashes',
    'aaaaaaa1',
  ]) {
    assert.ok(!looks(value), value);
  }
  assert.ok(!looks('readToken1', '(file)'));
  assert.ok(!looks('read.token2(file)'));
});
