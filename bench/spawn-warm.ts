import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultProgramLimits } from '../packages/sandbox/src/program.ts';
import type { Program } from '../packages/sandbox/src/program.ts';
import type { SpawnerClient } from '../packages/sandbox/src/spawner/spawner-client.ts';
import type { Budget } from './measure.ts';
import { openBenchSpawner, percentile, runOnce } from './spawn-bench.ts';

/** Does what the SDK does: all that can be is ready before the call comes, it waits in the kernel, and its answer has its sign. */
const script = `
  const { readSync } = require('node:fs');
  const { stdout, env } = process;
  const buffer = Buffer.allocUnsafe(64 * 1024);
  setImmediate(() => {
    const chunks = [];
    for (let count; (count = readSync(0, buffer)) > 0;) chunks.push(Buffer.from(buffer.subarray(0, count)));
    const answer = Buffer.concat(chunks).toString().toUpperCase();
    const sign = env.SALLYPORT_ANSWER;
    stdout.write(sign ? '\\x1e' + sign + ' ' + Buffer.byteLength(answer) + '\\n' + answer : answer, () => process.exit(0));
  });`;

const tool: Program = {
  argv: ['/opt/sallyport/bin/node', '-e', script],
  environment: {},
  workingDirectory: '/',
  stdin: Buffer.from('{"question":"how long does it take?"}'),
  mounts: [],
  hosts: [],
  limits: defaultProgramLimits,
  mayAnswer: true,
  isolation: 'sandbox',
};

/** A tool written for Node that was started ahead, against the same tool as a bare child of Node. */
export function spawnWarm(): Budget {
  let client: SpawnerClient;
  return {
    name: 'sandboxed Node tool, warm',
    bar: '≤ 3 ms, p50',
    isAlone: true,
    meets: (_ratio, { subject }) => subject <= 3,
    roundSeconds: 2,
    setUp: async () => {
      client = await openBenchSpawner();
      return () => client.close();
    },
    round: async (seconds) => {
      const bare: number[] = [];
      const warm: number[] = [];
      for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt;) {
        client.prepare('bench', tool);
        bare.push(await time(startBare));
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

async function startBare(): Promise<void> {
  const child = spawn(process.execPath, ['-e', script], { env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stdin.end(tool.stdin);
  await once(child, 'close');
}

async function time(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
