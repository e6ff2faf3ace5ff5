import assert from 'node:assert/strict';
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { MachineGauge } from './machine-gauge.ts';

test('the gauge measures this machine', () => {
  const gauge = new MachineGauge(tmpdir());
  const untilMs = performance.now() + 50;
  while (performance.now() < untilMs) Math.sqrt(untilMs);
  const { cpuPercent, memoryPercent, diskFreeMb } = gauge.read();
  for (const percent of [cpuPercent, memoryPercent]) {
    assert.ok(percent !== undefined && percent > 0 && percent <= 100, String(percent));
  }
  const { blocks, bsize } = statfsSync(tmpdir());
  assert.ok(diskFreeMb !== undefined && diskFreeMb > 0 && diskFreeMb <= (blocks * bsize) / 1024 / 1024);
});

test('a disk that cannot be measured is not reported as full', () => {
  assert.equal(new MachineGauge('/no/such/folder').read().diskFreeMb, undefined);
});
