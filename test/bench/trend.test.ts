import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { leastDisturbed } from '../../bench/measure.ts';
import type { Measured } from '../../bench/measure.ts';
import { compareWithTrend, readTrend, recordTrend } from '../../bench/trend.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-trend-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function measured(unit: string, ratio: number, cpuRatio?: number): Measured {
  return {
    name: 'a budget',
    bar: 'none',
    unit,
    floor: 1,
    subject: ratio,
    ratio,
    lowestRatio: ratio,
    highestRatio: ratio,
    ...(cpuRatio !== undefined && { cpuRatio }),
    rounds: 1,
    details: {},
    meetsBar: true,
  };
}

test('a figure that became a tenth worse than the recorded ones is told, whichever way is worse', () => {
  const file = join(folder, 'worse');
  assert.deepEqual(compareWithTrend(measured('ms', 9), readTrend(file)), []);
  for (const ratio of [2, 2.1, 5]) recordTrend([measured('ms', ratio, 3), measured('calls/s', ratio)], file);
  const trend = readTrend(file);
  assert.equal(trend.length, 6);
  assert.deepEqual(compareWithTrend(measured('ms', 2.2, 3.2), trend), []);
  assert.deepEqual(compareWithTrend(measured('calls/s', 9), trend), []);
  assert.deepEqual(compareWithTrend(measured('ms', 4.2, 3.6), trend), [
    'the ratio is 100 % worse than recorded: 4.20, before 2.10',
    'the CPU a call is 20 % worse than recorded: 3.60, before 3.00',
  ]);
  assert.deepEqual(compareWithTrend(measured('calls/s', 1.05), trend), [
    'the ratio is 100 % worse than recorded: 1.05, before 2.10',
  ]);
});

test('a cost that comes in small steps is told, and a figure of another machine is not compared with', () => {
  const file = join(folder, 'creeping');
  const ratios = [1, 1.05, 1.1, 1.15, 1.2];
  for (const ratio of ratios) recordTrend([measured('ms', ratio)], file);
  const trend = readTrend(file);
  assert.equal(compareWithTrend(measured('ms', 1.25), trend).length, 1);
  const elsewhere = trend.map((entry) => ({ ...entry, machine: 'another' }));
  assert.deepEqual(compareWithTrend(measured('ms', 9), elsewhere), []);
});

test('of many rounds the better quartile counts: the lower one of a cost, the upper one of a rate', () => {
  const rounds = [9, 1, 5, 3, 7];
  assert.equal(leastDisturbed('µs', rounds), 3);
  assert.equal(leastDisturbed('calls/s', rounds), 7);
  assert.equal(leastDisturbed('ms', [4]), 4);
});
