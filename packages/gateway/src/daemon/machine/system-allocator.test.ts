import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSystemAllocator } from './system-allocator.ts';

const isGlibc = 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;

test('with glibc, memory can be given back, and nobody is warned', { skip: !isGlibc }, (t) => {
  const warned = t.mock.method(process, 'emitWarning');
  const allocator = openSystemAllocator();
  assert.ok(allocator !== undefined);
  allocator.trim();
  assert.equal(warned.mock.callCount(), 0);
});

test('without such functions everything goes on as before', (t) => {
  t.mock.method(process, 'getBuiltinModule', () => undefined);
  assert.equal(openSystemAllocator(), undefined);
});
