import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { runSallyport } from '../harness/run-sallyport.ts';
import { requirement } from '../requirement.ts';
import { newToolPlace, shellProgram, writeProgram } from './tool-place.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start(newToolPlace());
  writeFileSync(join(daemon.place.workspace, 'a.txt'), 'content');
});
after(() => daemon.remove());

interface Metrics {
  readonly calls: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly denied: number;
  readonly reasons: Record<string, number>;
  readonly durations: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
}

function ask(...args: string[]): Record<string, unknown> {
  const { stdout, status } = runSallyport(daemon.place, ['tool', 'status', ...args, '--json']);
  assert.equal(status, 0, stdout);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('the numbers are those of the log: counts, failures and durations of every tool that was called', async () => {
  requirement('UI-1');
  for (let times = 0; times < 6; times++) await daemon.call('files.read', { path: 'a.txt', limit: times + 1 });
  await daemon.call('read_file', { path: 'a.txt' });
  await daemon.call('files.read', { path: 'missing.txt' });
  await daemon.call('files.read', { path: '/etc/passwd' });
  await daemon.call('no.such.tool', {});
  const metrics = ask('files.read')['metrics'] as Metrics;
  const { calls, succeeded, failed, denied } = metrics;
  assert.deepEqual({ calls, succeeded, failed, denied }, { calls: 9, succeeded: 7, failed: 1, denied: 1 });
  assert.deepEqual(Object.keys(metrics.reasons).toSorted(), ['NOT_FOUND', 'NO_RULE_ALLOWS']);

  const durations = (await daemon.records())
    .filter(({ kind, payload }) => kind === 'outcome' && payload['tool'] === 'files.read')
    .map(({ payload }) => Number(payload['duration_ms']))
    .toSorted((a, b) => a - b);
  assert.equal(durations.length, 8);
  assert.deepEqual(metrics.durations, { p50Ms: durations[3], p99Ms: durations[7], maxMs: durations[7] });
  const names = (ask()['tools'] as { name: string }[]).map(({ name }) => name);
  assert.ok(names.includes('files.read') && !names.includes('no.such.tool') && !names.includes('read_file'));
  const text = runSallyport(daemon.place, ['tool', 'status']).stdout;
  assert.match(text, /^TOOL +VERSION +STATUS +CALLS +FAILED +DENIED +ASKED +P50 +P99\n/);
  assert.match(text, /\nfiles\.read +\S+ +ready +9 +1 +1 +0 +\d+ ms +\d+ ms\n/);
  assert.match(text, /\nCounted from \d+ records of the log since /);
});

test('installed tools are there before their first call, with their standing', () => {
  requirement('UI-1');
  writeProgram(daemon.place, 'idle.sh', shellProgram('idle', 'echo {}'));
  const { status, metrics, whole } = ask('idle');
  assert.deepEqual([status, metrics, whole], ['new', undefined, true]);
  assert.match(runSallyport(daemon.place, ['tool', 'status']).stdout, /\nidle +1\.0\.0 +new +-\n/);
  assert.match(runSallyport(daemon.place, ['tool', 'status', 'idle']).stdout, /\nCalls\n {2}none\n/);
});

test('a mistyped number of hours is explained', () => {
  const { status, stderr } = runSallyport(daemon.place, ['tool', 'status', '--hours', 'many']);
  assert.equal(status, 1);
  assert.match(stderr, /whole number of hours/);
});
