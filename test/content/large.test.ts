import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const mebibyte = 1024 * 1024;

interface Grown {
  readonly sizeBytes: number;
  readonly readBytes: number;
  readonly grown: { readonly putBytes: number; readonly getBytes: number };
}

test('256 MB go in and out in a few MB of memory', () => {
  const program = join(import.meta.dirname, 'transfer-large.ts');
  const { sizeBytes, readBytes, grown } = JSON.parse(
    execFileSync(process.execPath, [program, '256'], { encoding: 'utf8' }),
  ) as Grown;
  assert.deepEqual([sizeBytes, readBytes], [256 * mebibyte, 256 * mebibyte]);
  assert.ok(grown.putBytes < 32 * mebibyte, `putting took ${grown.putBytes} bytes`);
  assert.ok(grown.getBytes < 32 * mebibyte, `getting took ${grown.getBytes} bytes`);
});
