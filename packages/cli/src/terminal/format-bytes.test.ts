import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes } from './format-bytes.ts';

test('sizes read as people say them', () => {
  const said = [0, 1, 999, 1000, 1_550_000, 12_000_000_000, 5e15].map(formatBytes);
  assert.deepEqual(said, ['0 bytes', '1 byte', '999 bytes', '1.0 KB', '1.6 MB', '12.0 GB', '5000.0 TB']);
});
