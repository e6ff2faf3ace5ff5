import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { SpawnerClient } from '../packages/sandbox/src/spawner/spawner-client.ts';
import type { Budget } from './measure.ts';
import { importRival, installRivals } from './rivals/install-rivals.ts';
import { nothing, openBenchSpawner, percentile, runOnce, timeEach } from './spawn-bench.ts';

/** What is used of the other sandbox. */
interface Rival {
  readonly SandboxManager: {
    readonly initialize: (options: object) => Promise<void>;
    readonly wrapWithSandbox: (command: string) => Promise<string>;
    readonly reset: () => Promise<void>;
  };
}

/** The same program in another sandbox that people use, without limits and unmeasured there. Needs ripgrep and socat. */
export function spawnAgainstSrt(): Budget {
  let client: SpawnerClient;
  let other: Rival['SandboxManager'];
  return {
    name: 'sandboxed program, cold, against sandbox-runtime',
    bar: 'faster',
    isAlone: true,
    meets: (_ratio, { floor, subject }) => subject < floor,
    setUp: async () => {
      await installRivals();
      ({ SandboxManager: other } = await importRival<Rival>('@anthropic-ai/sandbox-runtime'));
      client = await openBenchSpawner();
      await other.initialize({
        network: { allowedDomains: [], deniedDomains: [] },
        filesystem: { denyRead: [], allowWrite: ['/tmp'], denyWrite: [] },
      });
      return async () => {
        await other.reset();
        await client.close();
      };
    },
    round: async (seconds) => {
      const runs = { theirs: () => spawnOther(other), ours: () => runOnce(client, nothing) };
      const { theirs, ours } = await timeEach(runs, seconds);
      const unit = 'ms, p50 (floor: sandbox-runtime)';
      return { floor: percentile(theirs, 50), subject: percentile(ours, 50), unit, details: {} };
    },
  };
}

async function spawnOther(other: Rival['SandboxManager']): Promise<void> {
  const command = await other.wrapWithSandbox('/bin/true');
  const [code] = (await once(spawn(command, { shell: true, stdio: 'ignore' }), 'close')) as [number | null];
  if (code !== 0) throw new Error(`the other sandbox ended with ${code}`);
}
