import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cgroup } from '../../packages/sandbox/src/launch/cgroup.ts';
import { distinctPlaces, findPlaces } from '../../packages/sandbox/src/launch/cgroup-places.ts';
import type { CgroupPlaces } from '../../packages/sandbox/src/launch/cgroup-places.ts';

const mebibyte = 1024 * 1024;

/** Arrangements of this machine in which this user may make groups and which limit memory and processes. */
function usablePlaces(): readonly CgroupPlaces[] {
  return findPlaces().filter(({ cpu, memory, processes }) => {
    // A pure version 2 needs controllers handed down, which is not for a test to change.
    if (memory.version === 2 || processes.version === 2) return false;
    try {
      for (const { folder } of [cpu, memory, processes]) accessSync(folder, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const places = usablePlaces();

test(
  'the kernel measures, limits and ends what is in a group, in every arrangement of this machine',
  { skip: places.length === 0 && 'no control group of version 1 can be made here', timeout: 120_000 },
  async () => {
    for (const [at, parents] of places.entries()) {
      const versions = distinctPlaces(parents)
        .map(({ version }) => version)
        .join('+');
      const group = await Cgroup.create(parents, `sallyport-test-${process.pid}-${at}`, {
        memoryBytes: 200 * mebibyte,
        processes: 3,
      });
      try {
        const script =
          '$| = 1; readline STDIN; my $s = ""; vec($s, 50*1024*1024 - 1, 8) = 1; 1 while (times)[0] + (times)[1] < 0.3; fork; fork; fork; print "done"; sleep 60';
        const child = spawn('/usr/bin/perl', ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
        await group.add(child.pid as number);
        child.stdin.end('\n');
        await once(child.stdout, 'data');
        const { cpuMs = 0, peakMemoryBytes = 0 } = group.readUsage();
        assert.ok(cpuMs > 250 && cpuMs < 600, `${versions}: ${cpuMs} ms`);
        assert.ok(
          peakMemoryBytes > 50 * mebibyte && peakMemoryBytes < 60 * mebibyte,
          `${versions}: ${peakMemoryBytes}`,
        );
        assert.equal(group.findReachedLimit(), 'processes', versions);
        assert.equal(group.isEmpty(), false, versions);
      } finally {
        while (!group.isEmpty()) {
          group.kill();
          await sleep(5);
        }
        while (!(await group.tryRemove())) await sleep(5);
      }
    }
  },
);
