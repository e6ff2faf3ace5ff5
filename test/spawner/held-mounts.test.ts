import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { test } from 'node:test';
import type { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { eventually, finish, perl, shell } from './programs.ts';
import { withClient } from './with-client.ts';

/** Mount namespaces that the spawner holds open. */
function heldBy({ spawnerPid }: SpawnerClient): string[] {
  const folder = `/proc/${spawnerPid}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      const target = readlinkSync(`${folder}/${fd}`);
      return target.startsWith('mnt:') ? [target] : [];
    } catch {
      return [];
    }
  });
}

test('the mounts of a sandbox are held while it runs, and let go however it ends', async () => {
  await withClient({}, async (client) => {
    assert.deepEqual(heldBy(client), []);
    const abort = new AbortController();
    const running = client.run(shell('sleep 100'), {
      signal: abort.signal,
      onStdout: () => undefined,
      onStderr: () => undefined,
    });
    await eventually(() => heldBy(client).length === 1, 'the spawner holds them');
    abort.abort();
    await running;
    const ends = ['true', 'exit 3', 'kill -9 $$', 'sleep 100 & exit 0', 'while :; do echo xxxxxxxx; done'];
    await Promise.all(ends.map((script) => finish(client, shell(script, { limits: { outputBytes: 10_000 } }))));
    await eventually(() => heldBy(client).length === 0, 'the spawner has let go of them');
  });
});

test('a program finds no descriptor of a sandbox, its own or another', async () => {
  await withClient({}, async (client) => {
    const abort = new AbortController();
    const other = client.run(shell('sleep 100'), {
      signal: abort.signal,
      onStdout: () => undefined,
      onStderr: () => undefined,
    });
    await eventually(() => heldBy(client).length === 1, 'the spawner holds them');
    const look =
      'for my $fd (3 .. 255) { my $name = readlink("/proc/self/fd/$fd"); print "$name\\n" if defined $name }';
    const { stdout } = await finish(client, perl(look));
    assert.doesNotMatch(stdout, /mnt:/);
    abort.abort();
    await other;
  });
});
