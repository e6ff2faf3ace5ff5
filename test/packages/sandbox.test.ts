import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../requirement.ts';
import { InstalledPackages } from './installed-packages.ts';

test('the packed sandbox confines a program of somebody who has nothing else of the project', async (t) => {
  requirement('PKG-1');
  const installed = new InstalledPackages();
  t.after(() => installed.remove());
  const folder = await installed.install(['sandbox'], 'project');
  const data = join(folder, 'data');
  mkdirSync(data);
  writeFileSync(join(data, 'seen.txt'), '');
  chmodSync(installed.folder, 0o755);
  for (const each of [folder, data]) chmodSync(each, 0o777);
  const example = join(folder, 'node_modules/@sallyport/sandbox/example.mjs');

  const { status, stdout, stderr } = spawnSync(installed.node, [example, data], {
    encoding: 'utf8',
    cwd: folder,
    env: installed.environment(),
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
