import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldPath, isCanonicalPath, lowerAscii, resolveLinks, withAlias } from './canonical-path.ts';
import { makeFolder } from '../test-world.ts';

const spellings: readonly (readonly [path: string, canonical: boolean])[] = [
  ['/', true],
  ['/a', true],
  ['/a/b.c', true],
  ['/a/..b', true],
  ['/a/b..', true],
  ['/a/...', true],
  ['/.a', true],
  ['/a b/\n', true],
  ['/ä/😀', true],
  [`/${'a'.repeat(4095)}`, true],
  ['', false],
  ['a', false],
  ['./a', false],
  ['../a', false],
  ['~', false],
  ['//', false],
  ['//a', false],
  ['/a//b', false],
  ['/a/', false],
  ['/.', false],
  ['/..', false],
  ['/a/.', false],
  ['/a/..', false],
  ['/a/./b', false],
  ['/a/../b', false],
  ['/a\0', false],
  ['/a/\0/b', false],
  ['/a\ud800b', false],
  [`/${'a'.repeat(4096)}`, false],
];

test('only one spelling of a path is canonical', () => {
  for (const [path, expected] of spellings) assert.equal(isCanonicalPath(path), expected, JSON.stringify(path));
});

test('links are followed as far as the path exists, and the rest is kept', () => {
  const root = makeFolder();
  mkdirSync(join(root, 'real'));
  symlinkSync(join(root, 'real'), join(root, 'link'));
  assert.equal(resolveLinks(join(root, 'link')), join(root, 'real'));
  assert.equal(resolveLinks(join(root, 'link', 'not', 'yet')), join(root, 'real', 'not', 'yet'));
  assert.deepEqual(withAlias(join(root, 'link')), [join(root, 'link'), join(root, 'real')]);
  assert.deepEqual(withAlias(join(root, 'real')), [join(root, 'real')]);
});

test('a link that leads in a circle is kept as written', () => {
  const root = makeFolder();
  symlinkSync(join(root, 'b'), join(root, 'a'));
  symlinkSync(join(root, 'a'), join(root, 'b'));
  assert.equal(resolveLinks(join(root, 'a', 'x')), join(root, 'a', 'x'));
});

test('lowering touches ASCII letters only and keeps every position', () => {
  assert.equal(lowerAscii('/A/Ä/İ.PEM'), '/a/Ä/İ.pem');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(lowerAscii(text).length, text.length);
    }),
  );
});

test('folding makes equal what lax file systems take for equal', () => {
  const claude = foldPath('/home/ada/.claude');
  for (const spelling of ['/home/ADA/.Claude', '/home/ada/.cla\u200bude', '/home/ada/.CLAUDE']) {
    assert.equal(foldPath(spelling), claude, spelling);
  }
  assert.equal(foldPath('/\u212aey'), '/key');
  assert.equal(foldPath('/mu\u017fic'), '/music');
  assert.equal(foldPath('/re\u0301sume\u0301'), foldPath('/R\u00c9SUM\u00c9'));
});
