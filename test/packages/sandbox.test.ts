import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { packPackage } from '../../scripts/pack.ts';

test('the packed sandbox confines a program of somebody who has nothing else of the project', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-sandbox-alone-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const data = join(folder, 'data');
  mkdirSync(data);
  writeFileSync(join(data, 'seen.txt'), '');
  for (const each of [folder, data]) chmodSync(each, 0o777);
  const tarball = await packPackage('sandbox', folder);
  const installed = spawnSync('npm', ['install', '--offline', '--no-save', '--prefix', folder, tarball], {
    encoding: 'utf8',
    cwd: folder,
  });
  assert.equal(installed.status, 0, installed.stderr);
  copyFileSync(join(import.meta.dirname, '../../packages/sandbox/example.mjs'), join(folder, 'example.mjs'));

  const { status, stdout, stderr } = spawnSync(process.execPath, ['example.mjs', data], {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^seen\.txt$/m);
  assert.match(stdout, /Read-only file system|Permission denied/);
  assert.ok(!existsSync(join(data, 'new')));
  assert.match(stdout, /shadow: (?:No such file|Permission denied)/);
  assert.doesNotMatch(stdout, /root:/);
  assert.match(stdout, /kind: 'exited'/);
});
