import { setTimeout as sleep } from 'node:timers/promises';
import type { SpawnerClient } from '../packages/sandbox/src/spawner/spawner-client.ts';
import type { Budget } from './measure.ts';
import { nothing, openBenchSpawner, percentile, runOnce, spawnBare } from './spawn-bench.ts';

/** Longer than a sandbox takes to be built. */
const pauseMs = 50;

/** A program in a sandbox that was built after the call before, against the same program as a bare child of Node. */
export function spawnPrepared(): Budget {
  let client: SpawnerClient;
  return {
    name: 'sandboxed program, prepared',
    bar: '≤ a bare spawn + 2 ms, p50',
    isAlone: true,
    meets: (_ratio, { floor, subject }) => subject <= floor + 2,
    setUp: async () => {
      client = await openBenchSpawner();
      return () => client.close();
    },
    round: async (seconds) => {
      const bare: number[] = [];
      const prepared: number[] = [];
      const run = (): Promise<void> => runOnce(client, nothing, { preparedKey: 'bench' });
      for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt;) {
        client.prepareSandbox('bench', nothing);
        await sleep(pauseMs);
        bare.push(await time(spawnBare));
        prepared.push(await time(run));
      }
      return {
        floor: percentile(bare, 50),
        subject: percentile(prepared, 50),
        unit: 'ms, p50',
        details: {
          'bare p25 ms': percentile(bare, 25),
          'prepared p25 ms': percentile(prepared, 25),
          'bare p99 ms': percentile(bare, 99),
          'prepared p99 ms': percentile(prepared, 99),
        },
      };
    },
  };
}

async function time(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
