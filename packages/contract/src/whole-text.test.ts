import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeText } from './whole-text.ts';

test('a text is quoted whole or by its length, never in part', () => {
  assert.equal(wholeText('a'.repeat(256)), 'a'.repeat(256));
  assert.equal(wholeText('a'.repeat(257)), '[257 characters]');
  assert.equal(wholeText('abcd', 3), '[4 characters]');
  assert.equal(wholeText(''), '');
});
