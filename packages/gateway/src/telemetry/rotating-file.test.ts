import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { RotatingFile } from './rotating-file.ts';

test('a file that is large enough is set aside, only so many are kept, and no line is lost or cut', async (t) => {
  requirement('PKG-5');
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-rotating-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'daemon.log');
  const rotation = { maxBytes: 1000, kept: 3 };
  let file = new RotatingFile(path, rotation);
  for (let at = 0; at < 600; at++) {
    if (at === 300) {
      file.end();
      await once(file, 'close');
      // Another daemon goes on with the same file.
      file = new RotatingFile(path, rotation);
    }
    const written = new Promise((resolve) => file.write(`line ${String(at).padStart(4, '0')}\n`, resolve));
    // Some gather and are written at once.
    if (at % 7 === 0) await written;
  }
  file.end();
  await once(file, 'close');
  const names = readdirSync(folder).sort();
  assert.deepEqual(names, ['daemon.log', 'daemon.log.1', 'daemon.log.2', 'daemon.log.3']);
  const text = ['.3', '.2', '.1', ''].map((end) => readFileSync(`${path}${end}`, 'utf8')).join('');
  const lines = text.trimEnd().split('\n');
  const first = Number(lines[0]?.slice(5));
  assert.ok(first > 0 && lines.length === 600 - first);
  lines.forEach((line, at) => assert.equal(line, `line ${String(first + at).padStart(4, '0')}`));
  for (const name of names) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});

test('lines are taken out of all files, while others go on writing and none of theirs is lost', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-rotating-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'calls.log');
  const file = new RotatingFile(path, { maxBytes: 1000, kept: 50 });
  const dropped: Promise<void>[] = [];
  for (let at = 0; at < 600; at++) {
    const written = new Promise((resolve) => file.write(`${at % 3 === 0 ? 'erased' : 'line'} ${at}\n`, resolve));
    if (at % 7 === 0) await written;
    if (at === 200 || at === 205) dropped.push(file.dropLines((line) => line.startsWith('erased')));
  }
  await Promise.all(dropped);
  await new Promise((resolve) => file.write('late\n', resolve));
  await file.dropLines((line) => line.startsWith('erased'));
  file.end();
  await once(file, 'close');
  const names = readdirSync(folder);
  const lines = names.flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
  assert.equal(lines.filter((line) => line.startsWith('erased')).length, 0);
  const left = lines.flatMap((line) => (line.startsWith('line') ? [Number(line.slice(5))] : []));
  assert.deepEqual(
    left.toSorted((a, b) => a - b),
    Array.from({ length: 600 }, (_, at) => at).filter((at) => at % 3 !== 0),
  );
  assert.ok(lines.includes('late'));
  for (const name of names) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});
