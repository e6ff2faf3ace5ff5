import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultProgramLimits } from '../packages/sandbox/src/program.ts';
import type { Program } from '../packages/sandbox/src/program.ts';
import { buildSdk } from '@sallyport/sdk/build';
import type { SpawnerClient } from '../packages/sandbox/src/spawner/spawner-client.ts';
import type { Budget } from './measure.ts';
import { openBenchSpawner, percentile, runOnce } from './spawn-bench.ts';

/** A tool of the SDK, as anybody would write it. */
const script = `#!/usr/bin/env node
import { object, serveTool, string } from '@sallyport/sdk';
serveTool({
  name: 'shout', version: '1.0.0', description: 'Says it louder.', warm: true,
  input: object({ question: string() }),
  run: ({ question }) => ({ answer: question.toUpperCase() }),
});`;

const stdin = Buffer.from('{"question":"how long does it take?"}');

/** Writes the tool and the SDK into a folder that everybody may read, as the user of the sandbox must. */
function writeTool(): { readonly folder: string; readonly tool: Program } {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-tool-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'node_modules/@sallyport'), { recursive: true });
  buildSdk(join(folder, 'node_modules/@sallyport/sdk'));
  writeFileSync(join(folder, 'shout.mjs'), script);
  const tool: Program = {
    argv: ['/opt/sallyport/bin/node', '/tmp/tool/shout.mjs'],
    environment: {},
    workingDirectory: '/',
    stdin,
    mounts: [{ source: folder, target: '/tmp/tool', access: 'read' }],
    hosts: [],
    limits: defaultProgramLimits,
    mayAnswer: true,
    isolation: 'sandbox',
  };
  return { folder, tool };
}

/** A tool written for Node that was started ahead, against the same tool as a bare child of Node. */
export function spawnWarm(): Budget {
  let client: SpawnerClient;
  let folder: string;
  let tool: Program;
  return {
    name: 'sandboxed Node tool, warm',
    bar: '≤ 3 ms, p50',
    isAlone: true,
    meets: (_ratio, { subject }) => subject <= 3,
    roundSeconds: 2,
    setUp: async () => {
      ({ folder, tool } = writeTool());
      client = await openBenchSpawner();
      return async () => {
        await client.close();
        rmSync(folder, { recursive: true });
      };
    },
    round: async (seconds) => {
      const bare: number[] = [];
      const warm: number[] = [];
      for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt;) {
        client.prepare('bench', tool);
        bare.push(await time(() => startBare(join(folder, 'shout.mjs'))));
        // The next one is started when the last has ended, and Node takes its time.
        await sleep(300);
        warm.push(await time(() => runOnce(client, tool, { warmKey: 'bench' })));
      }
      const details = {
        'bare p25 ms': percentile(bare, 25),
        'warm p25 ms': percentile(warm, 25),
        'bare p99 ms': percentile(bare, 99),
        'warm p99 ms': percentile(warm, 99),
      };
      return { floor: percentile(bare, 50), subject: percentile(warm, 50), unit: 'ms, p50', details };
    },
  };
}

async function startBare(file: string): Promise<void> {
  const child = spawn(process.execPath, [file], { env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stdin.end(stdin);
  await once(child, 'close');
}

async function time(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
