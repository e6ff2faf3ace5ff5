import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printable } from './printable.ts';

test('what is shown stays on one line and holds no terminal controls', () => {
  assert.equal(printable('/a/b'), '/a/b');
  assert.equal(printable('/a b'), '"/a b"');
  assert.equal(printable('/a\nb\u001b[31m'), '"/a\\nb\\u001b[31m"');
  assert.equal(printable('/a\u202eb\u0085'), '"/a\\u202eb\\u0085"');
  assert.equal(printable(`/${'a'.repeat(900)}`), `/${'a'.repeat(900)}`);
  assert.equal(printable(`/${'a'.repeat(4000)}`), '"[4001 characters]"');
});
