import assert from 'node:assert/strict';
import { chmodSync, chownSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { environmentOf, newPlace } from '../harness/daemon.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');
const uid = 54_321;

test(
  'a user without an entry in /etc/passwd can start the gate',
  { skip: process.getuid?.() !== 0 && 'only root can become such a user' },
  async () => {
    const place = newPlace();
    for (const folder of [place.folder, place.workspace]) {
      chownSync(folder, uid, uid);
      chmodSync(folder, 0o700);
    }
    const child = spawn(process.execPath, [program, 'up', '--json'], {
      ...{ uid, gid: uid, cwd: place.folder, env: environmentOf(place), stdio: ['ignore', 'pipe', 'pipe'] },
    });
    let said = '';
    child.stderr?.on('data', (data: Buffer) => (said += data.toString()));
    const served = await new Promise<boolean>((resolve) => {
      child.stdout?.on('data', (data: Buffer) => {
        said += data.toString();
        if (said.includes('"address"')) resolve(true);
      });
      child.once('exit', () => resolve(false));
    });
    try {
      assert.ok(served, said);
      assert.match(said, /runs as user 54321/);
    } finally {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(place.folder, { recursive: true, force: true });
    }
  },
);
