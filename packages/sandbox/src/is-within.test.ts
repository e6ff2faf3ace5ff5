import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWithin } from './is-within.ts';

test('a folder holds itself and what is below it, not what merely starts with its name', () => {
  const cases = [
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/a/b/c', true],
    ['/a', '/ab', false],
    ['/a', '/', false],
    ['/a/b', '/a', false],
    ['/', '/', true],
    ['/', '/a', true],
    ['/a b', '/a b/😀', true],
  ] as const;
  for (const [folder, path, expected] of cases) assert.equal(isWithin(folder, path), expected, `${folder} ${path}`);
});
