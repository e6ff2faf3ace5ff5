import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { SandboxManager } from '@anthropic-ai/sandbox-runtime';
import { defaultProgramLimits } from '../packages/gateway/src/model/program.ts';
import type { Program } from '../packages/gateway/src/model/program.ts';
import type { SpawnerClient } from '../packages/gateway/src/spawner/spawner-client.ts';
import type { Budget } from './measure.ts';
import { openBenchSpawner, percentile, runOnce, timeEach } from './spawn-bench.ts';

const nothing: Program = {
  argv: ['/bin/true'],
  environment: {},
  workingDirectory: '/',
  stdin: new Uint8Array(),
  mounts: [],
  hosts: [],
  limits: defaultProgramLimits,
  isolation: 'sandbox',
};

/** The same program in another sandbox that people use, without limits and unmeasured there. Needs ripgrep and socat. */
export function spawnAgainstSrt(): Budget {
  let client: SpawnerClient;
  return {
    name: 'sandboxed program, cold, against sandbox-runtime',
    bar: 'faster',
    meets: (_ratio, { floor, subject }) => subject < floor,
    setUp: async () => {
      client = await openBenchSpawner();
      await SandboxManager.initialize({
        network: { allowedDomains: [], deniedDomains: [] },
        filesystem: { denyRead: [], allowWrite: ['/tmp'], denyWrite: [] },
      });
      return async () => {
        await SandboxManager.reset();
        await client.close();
      };
    },
    round: async (seconds) => {
      const { other, ours } = await timeEach({ other: spawnOther, ours: () => runOnce(client, nothing) }, seconds);
      const unit = 'ms, p50 (floor: sandbox-runtime)';
      return { floor: percentile(other, 50), subject: percentile(ours, 50), unit, details: {} };
    },
  };
}

async function spawnOther(): Promise<void> {
  const command = await SandboxManager.wrapWithSandbox('/bin/true');
  const [code] = (await once(spawn(command, { shell: true, stdio: 'ignore' }), 'close')) as [number | null];
  if (code !== 0) throw new Error(`the other sandbox ended with ${code}`);
}
