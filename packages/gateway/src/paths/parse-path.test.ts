import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import { ToolRefused } from '../call/tool.ts';
import { parsePath, spellLike } from './parse-path.ts';
import { isWithin } from '@sallyport/sandbox';

test('a path has one spelling, from the working directory or from the root', () => {
  const cases = {
    a: '/w/a',
    './a//b/': '/w/a/b',
    '.': '/w',
    '/x/./y': '/x/y',
    '//x': '/x',
    '/': '/',
    '~': '/w/~',
    'a..b/...': '/w/a..b/...',
  };
  for (const [given, path] of Object.entries(cases)) assert.deepEqual(parsePath(given, '/w'), { given, path });
});

test('what could mean something else to the kernel is refused', () => {
  requirement('EXEC-7');
  const refused = { '': 'INVALID_ARGUMENTS', 'a\0b': 'INVALID_ARGUMENTS', 'a\tb': 'INVALID_ARGUMENTS' };
  const climbing = { '..': 'UNSAFE_PATH', 'a/..': 'UNSAFE_PATH', '/../etc': 'UNSAFE_PATH', 'a/../b': 'UNSAFE_PATH' };
  const odd = { '\udfff': 'INVALID_ARGUMENTS', [`/${'ü'.repeat(2048)}`]: 'INVALID_ARGUMENTS' };
  for (const [given, code] of Object.entries({ ...refused, ...climbing, ...odd })) {
    assert.throws(
      () => parsePath(given, '/w'),
      (error) => error instanceof ToolRefused && error.refusal.code === code,
    );
  }
});

test('a relative path that the working directory makes too long is refused', () => {
  assert.throws(() => parsePath('a'.repeat(2000), `/${'w/'.repeat(1500)}`), ToolRefused);
});

test('every path is refused or canonical, and a relative one stays in the working directory', () => {
  const component = fc.oneof(fc.constantFrom('.', '..', '', 'a', '...'), fc.string({ unit: 'binary', maxLength: 5 }));
  fc.assert(
    fc.property(fc.array(component, { maxLength: 6 }), (components) => {
      const given = components.join('/');
      let path;
      try {
        ({ path } = parsePath(given, '/w/d'));
      } catch (error) {
        assert.ok(error instanceof ToolRefused);
        return;
      }
      assert.match(path, /^\/(?:[^/]+(?:\/[^/]+)*)?$/);
      assert.ok(path.split('/').every((name) => name !== '.' && name !== '..'));
      if (!given.startsWith('/')) assert.ok(isWithin('/w/d', path));
    }),
  );
});

test('a path is resolved as the system resolves it, whatever the folder and however it is spelled', () => {
  const folder = fc.constantFrom('/w', '/', '/w/', '/w/../x', '//w//y', '', 'here', '.');
  const parts = fc.array(fc.constantFrom('a', '.a', 'a.b', '.', '', '...', 'ä', ' '), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(folder, parts, (from, named) => {
      const given = named.join('/');
      if (given !== '') assert.equal(parsePath(given, from).path, posix.resolve(from, given));
    }),
  );
});

test('other paths are spelled the way the caller spelled theirs', () => {
  assert.equal(spellLike({ given: 'a', path: '/w/a' }, '/w/b', '/w'), 'b');
  assert.equal(spellLike({ given: '/w/a', path: '/w/a' }, '/w/b', '/w'), '/w/b');
});
