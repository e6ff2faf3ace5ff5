import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { ConfigError } from '../../call/fault.ts';
import { readOrCreateSecret, readSecret } from './secret-files.ts';

function newFile(t: TestContext): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-secret-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return { folder, file: join(folder, 'operator') };
}

test('a secret is made once, for its owner only, and nothing else is left in the folder', (t) => {
  const { folder, file } = newFile(t);
  assert.equal(readSecret(file), undefined);
  assert.equal(
    readOrCreateSecret(file, () => 'first'),
    'first',
  );
  assert.equal(
    readOrCreateSecret(file, () => assert.fail('made twice')),
    'first',
  );
  assert.equal(readSecret(file), 'first');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['operator']);
});

test('a secret that others can read is refused, with the command that helps', (t) => {
  const { file } = newFile(t);
  for (const mode of [0o640, 0o604, 0o620, 0o601]) {
    writeFileSync(file, 'secret\n');
    chmodSync(file, mode);
    assert.throws(
      () => readOrCreateSecret(file, () => 'new'),
      (error) => error instanceof ConfigError && error.remedy === `Run: chmod 600 '${file}'`,
    );
    assert.equal(readFileSync(file, 'utf8'), 'secret\n');
  }
});

test('an empty file is no secret', (t) => {
  const { file } = newFile(t);
  for (const content of ['', '\n', '  \n']) {
    writeFileSync(file, content, { mode: 0o600 });
    assert.throws(() => readSecret(file), /is empty/);
  }
});

test('a secret that another process makes meanwhile is not replaced', (t) => {
  const { folder, file } = newFile(t);
  const meanwhile = (): string => {
    writeFileSync(file, 'theirs\n', { mode: 0o600 });
    return 'mine';
  };
  assert.throws(() => readOrCreateSecret(file, meanwhile), { code: 'EEXIST' });
  assert.equal(readSecret(file), 'theirs');
  assert.deepEqual(readdirSync(folder), ['operator'], 'no copy of the other secret stays behind');
});

test('what a crash left half-made does not stand in the way', (t) => {
  const { folder, file } = newFile(t);
  writeFileSync(`${file}.${process.pid}.new`, 'half', { mode: 0o600 });
  assert.equal(
    readOrCreateSecret(file, () => 'whole'),
    'whole',
  );
  assert.deepEqual(readdirSync(folder), ['operator']);
});

test('a secret that cannot be made leaves nothing behind', (t) => {
  const { folder, file } = newFile(t);
  assert.throws(() => readOrCreateSecret(file, () => assert.fail('no entropy')), /no entropy/);
  assert.deepEqual(readdirSync(folder), []);
});
