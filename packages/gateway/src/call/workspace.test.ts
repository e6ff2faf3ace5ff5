import assert from 'node:assert/strict';
import { test } from 'node:test';
import { belongs } from './workspace.ts';

test('a folder belongs to the innermost accepted root around it', () => {
  const workspace = { folder: '/p/a/in', root: '/p/a', otherRoots: ['/p', '/p/a/in/vendor', '/q'], key: '' };
  for (const [path, where] of [
    ['/p/a/in', 'here'],
    ['/p/a/in/src', 'here'],
    ['/p/a', 'elsewhere'],
    ['/p/a/inner', 'elsewhere'],
    ['/p/a/in/vendor/x', 'elsewhere'],
    ['/p/b', 'elsewhere'],
    ['/q', 'elsewhere'],
    ['/', 'nowhere'],
    ['/home/q', 'nowhere'],
  ] as const) {
    assert.equal(belongs(workspace, path), where, path);
  }
});
