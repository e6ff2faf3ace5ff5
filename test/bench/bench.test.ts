import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const harness = join(import.meta.dirname, '../../bench/run.ts');

test('the benchmark runs a budget and reports floor, subject and ratio as one JSON object', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [harness, '--quick', '--only', 'gates', '--json'], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const { results } = JSON.parse(stdout) as {
    results: { name: string; floor: number; subject: number; ratio: number }[];
  };
  const [result] = results;
  assert.equal(results.length, 1);
  assert.ok(result !== undefined && result.floor > 0 && result.subject > 0);
  assert.ok(Math.abs(result.ratio - result.subject / result.floor) < 1e-6);
});
