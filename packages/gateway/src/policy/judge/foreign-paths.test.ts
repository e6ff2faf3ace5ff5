import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../../test/requirement.ts';
import { loneWorkspace } from '../../call/workspace.ts';
import { explainForeignPaths } from './foreign-paths.ts';

const inside = { ...loneWorkspace('/p/a'), otherRoots: ['/p/b', '/p/a/nested/deep', '/p/A-2'] };

test('what is in another accepted root is foreign, however it is spelled, and what is in none is not', () => {
  requirement('PKG-3');
  const explain = explainForeignPaths(inside);
  for (const path of [
    '/p/b',
    '/p/b/x',
    '/P/B/x',
    '/p/B\u200b/x',
    '/p/a/nested/deep',
    '/p/a/nested/deep/x',
    '/p/a-2/x',
  ]) {
    assert.equal(explain?.(path, 'read'), 'belongs to another project', path);
  }
  for (const path of ['/p/a', '/p/a/x', '/p/a/nested', '/p/ab', '/p/bc', '/p', '/', '/etc/passwd']) {
    assert.equal(explain?.(path, 'read'), undefined, path);
  }
});

test('a folder around another project can be read, but not changed, except the workspace itself', () => {
  const explain = explainForeignPaths(inside);
  for (const path of ['/', '/p', '/p/a/nested', '/P/A/Nested']) {
    assert.equal(explain?.(path, 'write'), 'contains another project', path);
  }
  for (const path of ['/p/a', '/p/a/x', '/q']) assert.equal(explain?.(path, 'write'), undefined, path);
});

test('an inner root is a project of its own, and what is around it belongs to another', () => {
  const explain = explainForeignPaths({ ...loneWorkspace('/p/a/in'), otherRoots: ['/p/a'] });
  assert.equal(explain?.('/p/a/x', 'read'), 'belongs to another project');
  assert.equal(explain?.('/p/a/in/x', 'write'), undefined);
});

test('a workspace in a root has the rest of the root beside it', () => {
  const explain = explainForeignPaths({ folder: '/p/a/in', root: '/p/a', otherRoots: ['/p/b'], key: '' });
  assert.equal(explain?.('/p/a/x', 'read'), undefined);
  assert.equal(explain?.('/p/b/x', 'read'), 'belongs to another project');
});

test('where there is one project, nothing is asked', () => {
  assert.equal(explainForeignPaths(loneWorkspace('/p/a')), undefined);
});
