import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace, TestDaemon } from '../harness/daemon.ts';
import { liftLimits } from '../harness/lift-limits.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';

const mount = (...args: string[]): void => void execFileSync('mount', args);
const unmount = (folder: string): void => void execFileSync('umount', ['-l', folder]);

test('on a full disk the gate seals itself, says why, loses nothing, and opens again when there is room', async () => {
  requirement('AUD-2');
  const place = newPlace();
  mkdirSync(place.home, { mode: 0o700 });
  mount('-t', 'tmpfs', '-o', 'size=12m,mode=0700', 'tmpfs', place.home);
  let daemon: TestDaemon | undefined;
  try {
    liftLimits(place);
    daemon = await TestDaemon.start(place);
    const token = await daemon.newAgent('filler');
    writeFileSync(join(place.workspace, 'a.txt'), 'a');

    const write = await daemon.call('files.write', { path: 'b.txt', content: 'b' }, { token });
    assert.equal(write.error?.code, 'DISK_NEARLY_FULL', 'what changes something stops before the log does');
    assert.equal(write.error?.retryable, true);

    const acknowledged: string[] = [];
    const filler = join(place.home, 'filler');
    writeFileSync(filler, '');
    for (let n = 0; (await daemon.status())['health'] === 'serving'; n++) {
      assert.ok(n < 5000, 'the disk does not fill');
      try {
        writeFileSync(filler, Buffer.alloc(64 * 1024, 1), { flag: 'a' });
      } catch {
        // Full: now only the log still grows.
      }
      const answer = await daemon.call('files.read', { path: 'a.txt' }, { token });
      if (answer.success) acknowledged.push(answer.callId);
      else assert.match(answer.denied?.rationaleCode ?? answer.error?.code ?? '', /SEALED|OUTCOME_UNRECORDED/);
    }
    assert.ok(acknowledged.length > 0);
    const status = await daemon.status();
    assert.equal(status['health'], 'sealed');
    assert.match(status['healthReason'] ?? '', /disk is full/);
    assert.equal((await fetch(`${daemon.address}/healthz`)).status, 503);
    const refused = await daemon.call('files.read', { path: 'a.txt' }, { token });
    assert.equal(refused.denied?.rationaleCode, 'SEALED');

    rmSync(filler);
    while ((await daemon.status())['health'] !== 'serving') await new Promise((resolve) => setTimeout(resolve, 50));
    const again = await daemon.call('files.read', { path: 'a.txt' }, { token });
    assert.ok(again.success, JSON.stringify(again));
    acknowledged.push(again.callId);
    await daemon.kill('SIGTERM');
    daemon = await TestDaemon.start(place);
    const ok = new Set<string>();
    let unsealed = 0;
    for (let from = 0; ;) {
      const records = await daemon.records(from);
      if (records.length === 0) break;
      from += records.length;
      for (const { callId, kind, result, payload } of records) {
        if (kind === 'outcome' && result === 'ok') ok.add(callId);
        if (payload['event'] === 'daemon_unsealed') unsealed += 1;
      }
    }
    assert.equal(unsealed, 1, 'the log says that the gate had been sealed');
    for (const callId of acknowledged) assert.ok(ok.has(callId), `call ${callId} was answered`);
    assert.equal(runSallyport(place, ['audit', 'verify', '--json']).status, 0);
  } finally {
    await daemon?.kill('SIGTERM');
    unmount(place.home);
    rmSync(place.folder, { recursive: true });
  }
});

test('a home that cannot be written is refused with what to do', () => {
  const place = newPlace();
  mkdirSync(place.home, { mode: 0o700 });
  mount('--bind', place.home, place.home);
  mount('-o', 'remount,bind,ro', place.home);
  try {
    const { status, stdout, stderr } = runSallyport(place, ['up']);
    assert.notEqual(status, 0);
    assert.match(stdout + stderr, /SALLYPORT_HOME cannot be written/);
    assert.match(stdout + stderr, /read-only/);
    assert.doesNotMatch(stdout + stderr, /\.ts:\d+/);
  } finally {
    unmount(place.home);
    rmSync(place.folder, { recursive: true });
  }
});
