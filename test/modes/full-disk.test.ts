import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { ownRules } from '../harness/own-rules.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const megabyte = 1024 * 1024;
const modesYaml = `version: 1
transitions:
  - { from: NORMAL, to: DEGRADED, when: { disk_free_mb: 80 }, hold_seconds: 1 }
`;

test('a disk that really fills up degrades the gate: reading goes on, changes are put off, and the log stays whole', async () => {
  requirement('MODE-3');
  const place = newPlace();
  mkdirSync(place.home, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0700', 'tmpfs', place.home]);
  let daemon: TestDaemon | undefined;
  try {
    daemon = await TestDaemon.start(ownRules(place, { 'modes.yaml': modesYaml }));
    const token = await daemon.newAgent('ada');
    const write = (path: string) => daemon?.call('files.write', { path, content: 'x' }, { token });
    assert.ok((await write('before.txt'))?.success);
    await pause(2500);
    assert.equal((await daemon.status())['mode'], 'NORMAL', 'there is room enough');

    const { bavail, bsize } = statfsSync(place.home);
    writeFileSync(join(place.home, 'filler'), Buffer.alloc(bavail * bsize - 20 * megabyte, 1));
    while ((await daemon.status())['mode'] === 'NORMAL') await pause(100);
    const shown = JSON.parse((await daemon.call('mode.show', {})).success?.outputJson ?? '{}') as {
      mode: string;
      lastChange: { by: string; cause: string };
    };
    assert.deepEqual([shown.mode, shown.lastChange.by], ['DEGRADED', 'sallyport']);
    assert.match(shown.lastChange.cause, /^disk_free_mb is (?:1\d|20), below 80$/);

    const late = await write('after.txt');
    assert.equal(late?.success, undefined, 'nothing is changed while space runs out');
    const read = await daemon.call('files.read', { path: 'before.txt' }, { token });
    assert.ok(read.success, JSON.stringify(read));

    rmSync(join(place.home, 'filler'));
    for (const mode of ['RECOVERY', 'NORMAL']) {
      assert.ok((await daemon.call('mode.set', { mode, cause: 'there is room again' })).success);
    }
    await pause(1100);
    assert.ok((await write('after.txt'))?.success, 'it goes on when there is room again');
    assert.equal(runSallyport(place, ['audit', 'verify', '--json']).status, 0);
  } finally {
    await daemon?.kill('SIGTERM');
    execFileSync('umount', ['-l', place.home]);
    rmSync(place.folder, { recursive: true });
  }
});
