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
