import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { SpawnerClient } from '../packages/sandbox/src/spawner/spawner-client.ts';
import type { Budget } from './measure.ts';
import { nothing, openBenchSpawner, percentile, runOnce, timeEach } from './spawn-bench.ts';

const inFlight = 16;

/** A program in a fresh sandbox, with limits and measured, against the same program as a bare child of Node. */
export function spawnCold(): Budget {
  let client: SpawnerClient;
  return {
    name: 'sandboxed program, cold, one at a time',
    bar: '≤ a bare spawn + 6 ms, p50',
    meets: (_ratio, { floor, subject }) => subject <= floor + 6,
    setUp: async () => {
      client = await openBenchSpawner();
      return () => client.close();
    },
    round: async (seconds) => {
      const { bare, sandboxed } = await timeEach(
        { bare: spawnBare, sandboxed: () => runOnce(client, nothing) },
        seconds,
      );
      return {
        floor: percentile(bare, 50),
        subject: percentile(sandboxed, 50),
        unit: 'ms',
        details: { 'bare p99 ms': percentile(bare, 99), 'sandboxed p99 ms': percentile(sandboxed, 99) },
      };
    },
  };
}

export function spawnManyCold(): Budget {
  let client: SpawnerClient;
  return {
    name: `sandboxed programs, cold, ${inFlight} in flight`,
    bar: '≥ 200 programs a second',
    meets: (_ratio, { subject }) => subject >= 200,
    setUp: async () => {
      client = await openBenchSpawner();
      return () => client.close();
    },
    round: async (seconds) => ({
      floor: await countPerSecond(spawnBare, seconds / 2),
      subject: await countPerSecond(() => runOnce(client, nothing), seconds / 2),
      unit: 'programs/s',
      details: {},
    }),
  };
}

async function spawnBare(): Promise<void> {
  await once(spawn('/bin/true', { env: {}, stdio: ['pipe', 'pipe', 'pipe'] }), 'close');
}

async function countPerSecond(run: () => Promise<void>, seconds: number): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let count = 0;
  const lane = async (): Promise<void> => {
    for (; performance.now() < endsAt; count++) await run();
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return (count * 1000) / (performance.now() - startedAt);
}
