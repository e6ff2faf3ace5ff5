import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { requirement } from '../requirement.ts';
import { finish, perl, shell } from './programs.ts';

const client = new SpawnerClient();
after(() => client.close());

const mebibyte = 1024 * 1024;
const burn = (seconds: number): string => `1 while ((times)[0] + (times)[1] < ${seconds});`;
const useMemory = (bytes: number): string => `my $s = ""; vec($s, ${bytes} - 1, 8) = 1;`;
const waitFor = (children: number): string => 'wait; '.repeat(children);
/** A grandchild in a session of its own, whose parent is gone and never waited for it. */
const hide = (script: string): string =>
  `use POSIX; $SIG{CHLD} = "IGNORE"; pipe my $r, my $w; if (!fork) { close $r; POSIX::setsid(); exit if fork; ${script}; exit } close $w; my $l = <$r>;`;

function assertNear(actual: number | undefined, expected: number, what: string): void {
  const isNear = actual !== undefined && Math.abs(actual - expected) <= expected / 10;
  assert.ok(isNear, `${what} is ${actual}, which is not within a tenth of ${expected}`);
}

const burners: readonly [string, string, number][] = [
  ['one process', burn(0.6), 600],
  ['children that are waited for', `for (1..3) { if (!fork) { ${burn(0.2)} exit } } ${waitFor(3)}`, 600],
  ['a child that hides', hide(burn(0.6)), 600],
];

for (const [name, script, expectedMs] of burners) {
  test(`CPU time is measured right: ${name}`, async () => {
    requirement('EXEC-4');
    const { usage } = await finish(client, perl(script));
    assert.equal(usage.measuredBy, 'cgroup');
    assertNear(usage.cpuMs, expectedMs, 'CPU time');
  });
}

const hoarders: readonly [string, string, number][] = [
  ['one process', useMemory(120 * mebibyte), 120],
  [
    'children at the same time',
    `for (1..3) { if (!fork) { ${useMemory(40 * mebibyte)} sleep 1; exit } } ${waitFor(3)}`,
    120,
  ],
  ['a child that hides', hide(useMemory(120 * mebibyte)), 120],
];

for (const [name, script, expectedMebibytes] of hoarders) {
  test(`peak memory is measured right: ${name}`, async () => {
    requirement('EXEC-4');
    const { usage } = await finish(client, perl(script));
    assertNear(usage.peakMemoryBytes, expectedMebibytes * mebibyte, 'peak memory');
  });
}

test('a sandbox without hosts made no connections, and without isolation nobody counted', async () => {
  requirement('EXEC-4');
  assert.equal((await finish(client, shell('true'))).usage.networkConnections, 0);
  const { usage } = await finish(client, shell('true', { isolation: 'none' }));
  assert.ok(!('networkConnections' in usage));
});

test('what never ran used nothing, and nothing is claimed', async () => {
  requirement('EXEC-4');
  const { usage } = await finish(client, shell('true'), { signal: AbortSignal.abort() });
  assert.deepEqual(usage, {});
});
