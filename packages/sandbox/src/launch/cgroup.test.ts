import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Cgroup } from './cgroup.ts';

/** Plain files in the layout of a kernel that is not this one: what is read and written is what the kernel documents. */
async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-cgroup-'));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const limits = { memoryBytes: 1000.5, processes: 7 };

test('version 2: limits are set in one folder, and usage is read from it', async () => {
  await inFolder(async (folder) => {
    const place = { folder, version: 2 } as const;
    const group = await Cgroup.create({ cpu: place, memory: place, processes: place }, 'call', limits);
    const at = (name: string): string => join(folder, 'call', name);
    assert.equal(readFileSync(at('memory.max'), 'utf8'), '1000');
    assert.equal(readFileSync(at('memory.oom.group'), 'utf8'), '1');
    assert.equal(readFileSync(at('pids.max'), 'utf8'), '7');

    assert.deepEqual(group.readUsage(), {}, 'what the kernel does not say is absent');
    writeFileSync(at('cpu.stat'), 'usage_usec 1234567\nuser_usec 1000000\n');
    writeFileSync(at('memory.peak'), '4096\n');
    assert.deepEqual(group.readUsage(), { cpuMs: 1234.567, peakMemoryBytes: 4096 });

    assert.equal(group.findReachedLimit(), undefined);
    writeFileSync(at('memory.events'), 'low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n');
    assert.equal(group.findReachedLimit(), 'memoryBytes');
    writeFileSync(at('pids.events'), 'max 3\n');
    assert.equal(group.findReachedLimit(), 'processes', 'a fork bomb can reach both');

    writeFileSync(at('cgroup.events'), 'populated 1\nfrozen 0\n');
    writeFileSync(at('cgroup.kill'), '');
    assert.equal(group.isEmpty(), false);
    group.kill();
    assert.deepEqual([readFileSync(at('cgroup.kill'), 'utf8'), readFileSync(at('pids.max'), 'utf8')], ['1', '0']);
    writeFileSync(at('cgroup.events'), 'populated 0\nfrozen 0\n');
    assert.equal(group.isEmpty(), true);

    await group.add(42);
    assert.equal(readFileSync(at('cgroup.procs'), 'utf8'), '42');
    assert.equal(await group.tryRemove(), false, 'a folder that cannot be removed yet is tried again');
  });
});

test('version 1: each controller has a folder of its own', async () => {
  await inFolder(async (folder) => {
    const place = (name: string) => {
      mkdirSync(join(folder, name));
      return { folder: join(folder, name), version: 1 } as const;
    };
    const places = { cpu: place('cpuacct'), memory: place('memory'), processes: place('pids') };
    const group = await Cgroup.create(places, 'call', limits);
    const at = (name: string): string => join(folder, name);
    assert.equal(readFileSync(at('memory/call/memory.limit_in_bytes'), 'utf8'), '1000');
    writeFileSync(at('cpuacct/call/cpuacct.usage'), '1234567890\n');
    writeFileSync(at('memory/call/memory.max_usage_in_bytes'), '8192\n');
    assert.deepEqual(group.readUsage(), { cpuMs: 1234.568, peakMemoryBytes: 8192 });
    writeFileSync(at('memory/call/memory.oom_control'), 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n');
    assert.equal(group.findReachedLimit(), 'memoryBytes');
    await group.add(42);
    assert.equal(readFileSync(at('pids/call/cgroup.procs'), 'utf8'), '42');
    assert.equal(group.isEmpty(), false);
  });
});

test('a group that cannot be made whole leaves nothing', async () => {
  await inFolder(async (folder) => {
    const here = { folder, version: 1 } as const;
    const missing = { folder: join(folder, 'missing'), version: 1 } as const;
    await assert.rejects(Cgroup.create({ cpu: here, memory: missing, processes: here }, 'call', limits));
    assert.throws(() => readFileSync(join(folder, 'call')), { code: 'ENOENT' });
  });
});
