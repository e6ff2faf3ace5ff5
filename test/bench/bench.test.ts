import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

test('an ordinary check of all limits of a call costs far below 10 ms', () => {
  const args = [harness, '--quick', '--only', 'rate-limit', '--json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const { results } = JSON.parse(stdout) as { results: { details: Record<string, number> }[] };
  // The bar for the slowest of a hundred is the benchmark's own: here other tests share the machine.
  assert.ok((results[0]?.details['p50 µs'] ?? Infinity) < 10_000, stdout);
});

test('docs/performance.md names every budget with its bar, and no other', () => {
  const { stdout, stderr } = spawnSync(process.execPath, [harness, '--list'], { encoding: 'utf8' });
  const page = readFileSync(join(import.meta.dirname, '../../docs/performance.md'), 'utf8');
  const rowsOf = (text: string): string[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.replaceAll(/ +/g, ' '));
  const [, , ...rows] = rowsOf(page.slice(page.indexOf('## Bars')));
  assert.deepEqual(rows, rowsOf(stdout), stderr);
});
