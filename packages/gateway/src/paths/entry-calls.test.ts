import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { callLibrary, callThroughProc, chooseEntryCalls } from './entry-calls.ts';
import type { EntryCalls } from './entry-calls.ts';

const isLinux = process.platform === 'linux';

function openFolder(t: TestContext): { readonly folder: string; readonly fd: number } {
  const folder = mkdtempSync(join(tmpdir(), 'entries-'));
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, fd };
}

/** What is in the entry, or undefined where it does not open. Nothing stays open. */
function readEntry(calls: EntryCalls, folder: number, name: string): string | undefined {
  const fd = calls.open(folder, name);
  if (fd === undefined) return undefined;
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

for (const [way, open] of [
  ['the C library', callLibrary],
  ['/proc', () => callThroughProc],
] as const) {
  test(`through ${way}: an entry opens by its own name and no other`, { skip: !isLinux }, (t) => {
    const calls = open();
    const { folder, fd } = openFolder(t);
    const names = ['a', 'ä', '日本', 'a b', '-', "'", 'a'.repeat(255)];
    for (const name of names) writeFileSync(join(folder, name), name);
    for (const name of names) assert.equal(readEntry(calls, fd, name), name);
    // C would read only what stands before the NUL.
    for (const name of ['a\0', 'a\0b', '\0', 'b', 'a'.repeat(256), 'a'.repeat(1 << 20)]) {
      assert.equal(readEntry(calls, fd, name), undefined, name.slice(0, 10));
    }
  });

  test(`through ${way}: no link is followed, and a pipe does not hang`, { skip: !isLinux }, (t) => {
    const calls = open();
    const { folder, fd } = openFolder(t);
    writeFileSync(join(folder, 'a'), 'a');
    symlinkSync('a', join(folder, 'link'));
    symlinkSync('/etc/passwd', join(folder, 'out'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const name of ['link', 'out']) assert.equal(readEntry(calls, fd, name), undefined);
    const pipe = calls.open(fd, 'pipe');
    if (pipe !== undefined) closeSync(pipe);
  });

  test(`through ${way}: what is open is where the kernel says, and nowhere else`, { skip: !isLinux }, (t) => {
    const calls = open();
    const { folder, fd } = openFolder(t);
    const path = join(folder, 'ä file');
    writeFileSync(path, 'here');
    const opened = calls.open(fd, 'ä file');
    assert.ok(opened !== undefined);
    t.after(() => closeSync(opened));
    assert.equal(calls.isAt(opened, path), true);
    for (const other of ['', '/', folder, `${path}\0`, `${path}/`, path.slice(0, -1), `${path} (deleted)`]) {
      assert.equal(calls.isAt(opened, other), false, other);
    }
    renameSync(path, `${path}.moved`);
    assert.equal(calls.isAt(opened, path), false);
    assert.equal(calls.isAt(opened, `${path}.moved`), true);
    // Another file under the old name does not make this one it.
    writeFileSync(path, 'another');
    assert.equal(calls.isAt(opened, path), false);
    unlinkSync(`${path}.moved`);
    for (const name of [path, `${path}.moved`]) assert.equal(calls.isAt(opened, name), false);
  });

  test(
    `through ${way}: bytes that are no text are not taken for the text that stands for them`,
    { skip: !isLinux },
    (t) => {
      const calls = open();
      const { folder, fd } = openFolder(t);
      const inner = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]);
      mkdirSync(inner);
      writeFileSync(Buffer.concat([inner, Buffer.from('/a')]), 'a');
      const opened = openSync(Buffer.concat([inner, Buffer.from('/a')]), constants.O_RDONLY);
      t.after(() => closeSync(opened));
      assert.equal(calls.open(fd, '\uFFFD'), undefined);
      assert.equal(calls.isAt(opened, `${folder}/a`), false);
    },
  );
}

test('programs inherit nothing that was opened so, and nothing stays open', { skip: !isLinux }, (t) => {
  const calls = chooseEntryCalls();
  const { folder, fd } = openFolder(t);
  writeFileSync(join(folder, 'a'), 'a');
  const opened = calls.open(fd, 'a');
  assert.ok(opened !== undefined);
  const inherited = execFileSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' });
  assert.ok(!inherited.includes(folder), inherited);
  closeSync(opened);
  const before = readdirSync('/proc/self/fd').length;
  for (let times = 0; times < 2000; times++) {
    assert.equal(calls.open(fd, 'missing'), undefined);
    assert.equal(readEntry(calls, fd, 'a'), 'a');
  }
  assert.equal(readdirSync('/proc/self/fd').length, before);
});

test('where Node calls no library, the way through /proc is taken', { skip: !isLinux }, (t) => {
  t.mock.method(process, 'getBuiltinModule', () => undefined);
  assert.equal(chooseEntryCalls(), callThroughProc);
});
