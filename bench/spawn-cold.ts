import type { SpawnerClient } from '../packages/sandbox/src/spawner/spawner-client.ts';
import type { Budget } from './measure.ts';
import {
  nothing,
  openBenchSpawner,
  openRawSandbox,
  percentile,
  readSpawnerCpuMs,
  runOnce,
  spawnBare,
  timeEach,
} from './spawn-bench.ts';

const inFlight = 16;
const turnsARound = 2;

/** A program in a fresh sandbox, with limits and measured, against the same program as a bare child of Node. */
export function spawnCold(): Budget {
  let client: SpawnerClient;
  let raw: () => Promise<void>;
  return {
    name: 'sandboxed program, cold, one at a time',
    bar: '≤ a bare spawn + 6 ms, p50',
    isAlone: true,
    meets: (_ratio, { floor, subject }) => subject <= floor + 6,
    setUp: async () => {
      client = await openBenchSpawner();
      raw = await openRawSandbox();
      return () => client.close();
    },
    round: async (seconds) => {
      const times = await timeEach({ bare: spawnBare, raw, cold: () => runOnce(client, nothing) }, seconds);
      return {
        floor: percentile(times.bare, 50),
        subject: percentile(times.cold, 50),
        unit: 'ms, p50',
        details: {
          'bubblewrap alone p50 ms': percentile(times.raw, 50),
          'bare p25 ms': percentile(times.bare, 25),
          'bubblewrap alone p25 ms': percentile(times.raw, 25),
          'cold p25 ms': percentile(times.cold, 25),
          'bare p99 ms': percentile(times.bare, 99),
          'cold p99 ms': percentile(times.cold, 99),
        },
      };
    },
  };
}

/** Against bubblewrap with the same mounts, as children of Node. */
export function spawnManyCold(): Budget {
  let client: SpawnerClient;
  let raw: () => Promise<void>;
  return {
    name: `sandboxed programs, cold, ${inFlight} in flight`,
    bar: '≥ 2 × bubblewrap alone',
    isAlone: true,
    meets: (ratio) => ratio >= 2,
    roundSeconds: 2,
    setUp: async () => {
      client = await openBenchSpawner();
      raw = await openRawSandbox();
      return () => client.close();
    },
    round: async (seconds) => {
      const counted = { raw: 0, cold: 0, cpuMs: 0 };
      const secondsATurn = seconds / 2 / turnsARound;
      for (let turn = 0; turn < turnsARound; turn++) {
        counted.raw += (await countPerSecond(raw, secondsATurn)).perSecond / turnsARound;
        const beforeMs = readSpawnerCpuMs(client);
        const cold = await countPerSecond(() => runOnce(client, nothing), secondsATurn);
        counted.cold += cold.perSecond / turnsARound;
        counted.cpuMs += (readSpawnerCpuMs(client) - beforeMs) / cold.count / turnsARound;
      }
      return {
        floor: counted.raw,
        subject: counted.cold,
        unit: 'programs/s',
        details: { 'CPU ms of spawner, sandbox and program': counted.cpuMs },
      };
    },
  };
}

async function countPerSecond(
  run: () => Promise<void>,
  seconds: number,
): Promise<{ readonly count: number; readonly perSecond: number }> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let count = 0;
  const lane = async (): Promise<void> => {
    for (; performance.now() < endsAt; count++) await run();
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { count, perSecond: (count * 1000) / (performance.now() - startedAt) };
}
