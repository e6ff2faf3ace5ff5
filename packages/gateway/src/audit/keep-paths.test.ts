import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { keepPaths } from './keep-paths.ts';
import { Redactor } from '../redaction/redact.ts';

test('folders whose names are parts of a secret with slashes show no part of it', () => {
  requirement('AUD-4');
  // The gate does not know it: only the whole has the shape of a secret.
  const password = ['Zx81', 'Qw72', 'Ty63Pk54'].join('/');
  const file = `/w/notes/password=${password}`;
  const folders = ['/w', '/w/notes', '/w/notes/password=Zx81', '/w/notes/password=Zx81/Qw72'];
  assert.deepEqual(keepPaths([...folders, file], new Redactor()), [
    '/w',
    '/w/notes',
    '/w/notes/password=[redacted]',
    '/w/notes/password=[redacted]',
    '/w/notes/password=[redacted]',
  ]);
});

test('ordinary paths are kept as they are, whatever lies beside them', () => {
  const paths = ['/w/a', '/w/a/b', '/w/a/b/c.txt', '/w/ab', '/'];
  assert.deepEqual(keepPaths(paths, new Redactor(['a-known-secret-1'])), paths);
  assert.deepEqual(keepPaths(['/w/a', '/w/a/a-known-secret-1'], new Redactor(['a-known-secret-1'])), [
    '/w/a',
    '/w/a/[redacted]',
  ]);
});
