import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { AlreadyRunningError, readHolder, takeLock } from './lock.ts';

const onLinux = { skip: process.platform !== 'linux' && 'reads /proc' };

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A process id that was in use a moment ago. */
async function endedPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'exit');
  return child.pid ?? assert.fail('nothing was started');
}

test('a lock names its holder, is readable by its owner only, and is gone after its release', (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'daemon.lock');
  const release = takeLock(file, folder);
  assert.equal(readHolder(file)?.pid, process.pid);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['daemon.lock', 'daemon.lock.held']);
  release();
  assert.deepEqual(readdirSync(folder), ['daemon.lock.held']);
  takeLock(file, folder)();
});

test('a second daemon of the same home is told which process holds it', (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'daemon.lock');
  const release = takeLock(file, folder);
  assert.throws(
    () => takeLock(file, folder),
    (error) => error instanceof AlreadyRunningError && error.pid === process.pid && error.message.includes(folder),
  );
  assert.equal(readHolder(file)?.pid, process.pid);
  release();
});

test('the lock of a process that has ended is taken over, and so is one that names none', async (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'daemon.lock');
  const stale = JSON.stringify({ pid: await endedPid(), began: '1' });
  for (const content of [stale, '', '{', 'null', '{"pid":-1}', '{"pid":"1"}']) {
    writeFileSync(file, content);
    const release = takeLock(file, folder);
    assert.equal(readHolder(file)?.pid, process.pid, content);
    assert.deepEqual(readdirSync(folder), ['daemon.lock', 'daemon.lock.held']);
    release();
  }
});

test('a process id that was given to another process does not keep the lock', onLinux, (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'daemon.lock');
  writeFileSync(file, JSON.stringify({ pid: process.ppid, began: '1' }));
  takeLock(file, folder)();
  // Without the time of its beginning there is nothing to tell the two apart, so the lock is respected.
  writeFileSync(file, JSON.stringify({ pid: process.ppid }));
  assert.throws(() => takeLock(file, folder), AlreadyRunningError);
});

test('a process that has ended but was not collected does not keep the lock', onLinux, async (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'daemon.lock');
  // The shell becomes a program that never collects the child it has started.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
  t.after(() => parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(String(line).trim());
  const until = async (reached: () => boolean) => {
    while (!reached()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
  process.kill(pid, 'SIGKILL');
  await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '));
  writeFileSync(file, JSON.stringify({ pid }));
  takeLock(file, folder)();
});

test('a release does not take away the lock of another process', (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'daemon.lock');
  const release = takeLock(file, folder);
  writeFileSync(file, JSON.stringify({ pid: process.ppid, began: '' }));
  release();
  assert.ok(existsSync(file));
});

test('a folder that cannot be written says so', (t) => {
  const folder = newFolder(t);
  assert.throws(() => takeLock(join(folder, 'missing', 'daemon.lock'), folder), /unable to open database file/);
});

test('of several daemons that find the same stale lock at the same moment, one wins', async (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'daemon.lock');
  writeFileSync(file, JSON.stringify({ pid: await endedPid(), began: '1' }));
  const script = `
    import { takeLock } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)};
    console.log('ready');
    process.stdin.once('data', (atMs) => {
      while (Date.now() < Number(atMs));
      try { takeLock(${JSON.stringify(file)}, ''); console.log('won'); } catch (error) { console.log(error.name); }
    });`;
  const starters = Array.from({ length: 4 }, () => spawn(process.execPath, ['--input-type=module', '-e', script]));
  const exits = starters.map((starter) => once(starter, 'exit'));
  const answers = starters.map(() => '');
  for (const [at, { stdout }] of starters.entries()) {
    stdout.on('data', (text: Buffer) => (answers[at] += String(text)));
  }
  const until = async (word: RegExp) => {
    while (!answers.every((answer) => word.test(answer))) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await until(/ready\n/);
  const atMs = Date.now() + 50;
  for (const { stdin } of starters) stdin.write(`${atMs}`);
  // They live until all have answered, so that nobody finds the lock of one that has won and gone.
  await until(/ready\n\w+\n/);
  for (const { stdin } of starters) stdin.end();
  await Promise.all(exits);
  assert.deepEqual(answers.map((answer) => answer.split('\n')[1] ?? '').sort(), [
    'AlreadyRunningError',
    'AlreadyRunningError',
    'AlreadyRunningError',
    'won',
  ]);
});
