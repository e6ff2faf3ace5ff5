import assert from 'node:assert/strict';
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { hasOtherSpelling } from './lax-names.ts';

/** A folder on a file system that ignores case without Linux knowing it, such as one of `lowntfs-3g -o ignore_case`. */
const lax = process.env['SALLYPORT_LAX_FOLDER'];

function openFolder(t: TestContext, parent: string): string {
  const folder = mkdtempSync(join(parent, 'sallyport-names-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'sub', '.env'), '');
  writeFileSync(join(folder, 'sub', '1'), '');
  return folder;
}

test('where case counts, a name has one spelling, and another one that is listed is found by itself', (t) => {
  const folder = openFolder(t, tmpdir());
  assert.equal(hasOtherSpelling(join(folder, 'sub', '.env'), folder), false);
  linkSync(join(folder, 'sub', '.env'), join(folder, 'sub', '.ENV'));
  assert.equal(hasOtherSpelling(join(folder, 'sub', '.env'), folder), false);
});

// No file system of an ordinary kernel is so lax, so this needs a folder from outside.
if (lax !== undefined) {
  test('where case does not count, a name can be written in other letters', (t) => {
    const folder = openFolder(t, lax);
    assert.equal(hasOtherSpelling(join(folder, 'sub', '.env'), folder), true);
    assert.equal(hasOtherSpelling(join(folder, 'sub', '1'), folder), true, 'through SUB');
  });
}
