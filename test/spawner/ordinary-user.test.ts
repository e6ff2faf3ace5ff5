import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ProgramEnd } from '../../packages/sandbox/src/program.ts';
import { listLeftovers } from './programs.ts';

/** Nobody, who may not make control groups. */
const nobody = { uid: 65534, gid: 65534 };
const skip = process.getuid?.() === 0 ? false : 'only root can become somebody without any rights';

interface Report {
  readonly limits: string;
  readonly refused: { readonly code?: string; readonly remedy?: string };
  readonly measured: ProgramEnd;
  readonly ends: Readonly<Record<'memory' | 'cpu' | 'processes' | 'disk' | 'hiddenDisk' | 'survivors', ProgramEnd>>;
  readonly pids: readonly number[];
}

test('without control groups programs are refused, and watched where the operator accepts that', { skip }, () => {
  const { stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'ordinary-user.ts')], {
    ...nobody,
    env: {},
    cwd: '/',
    encoding: 'utf8',
  });
  assert.notEqual(stdout, '', stderr);
  const { limits, refused, measured, ends, pids } = JSON.parse(stdout) as Report;
  assert.equal(limits, 'none');
  assert.equal(refused.code, 'LIMIT_UNENFORCEABLE');
  assert.match(refused.remedy ?? '', /Delegate/);

  const { measuredBy, cpuMs = 0, peakMemoryBytes = 0 } = measured.usage;
  assert.equal(measuredBy, 'sampled');
  assert.ok(cpuMs > 200 && cpuMs < 600, `${cpuMs} ms`);
  assert.ok(peakMemoryBytes > 60 * 1024 * 1024, `${peakMemoryBytes} bytes`);
  assert.deepEqual(ends.memory.how, { kind: 'limit', limit: 'memoryBytes' });
  assert.deepEqual(ends.cpu.how, { kind: 'limit', limit: 'cpuMs' });
  assert.deepEqual(ends.processes.how, { kind: 'limit', limit: 'processes' });
  assert.deepEqual(ends.disk.how, { kind: 'limit', limit: 'diskBytes' });
  assert.deepEqual(ends.hiddenDisk.how, { kind: 'limit', limit: 'diskBytes' });
  assert.deepEqual(ends.survivors.how, { kind: 'exited', code: 0 });
  assert.deepEqual(listLeftovers(pids), []);
});
