import { mkdtempSync, rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultProgramLimits } from '../packages/sandbox/src/program.ts';
import type { Program } from '../packages/sandbox/src/program.ts';
import { SpawnerClient } from '../packages/sandbox/src/spawner/spawner-client.ts';

export { percentile } from './measure.ts';

/** A program that does nothing: what remains is the cost of starting it. */
export const nothing: Program = {
  argv: ['/bin/true'],
  environment: {},
  workingDirectory: '/',
  stdin: new Uint8Array(),
  mounts: [],
  hosts: [],
  limits: defaultProgramLimits,
  isolation: 'sandbox',
};

/** A spawner like the daemon's: it starts from compiled code, which makes it small. */
export async function openBenchSpawner(): Promise<SpawnerClient> {
  const cache = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  process.once('exit', () => rmSync(cache, { recursive: true, force: true }));
  enableCompileCache(cache);
  const first = new SpawnerClient();
  await first.abilities;
  await first.close();
  const client = new SpawnerClient();
  await client.abilities;
  return client;
}

/** Runs a program that must end well. */
export async function runOnce(client: SpawnerClient, program: Program, warmKey?: string): Promise<void> {
  const { how } = await client.run(program, {
    signal: new AbortController().signal,
    onStdout: () => undefined,
    onStderr: () => undefined,
    ...(warmKey !== undefined && { warmKey }),
  });
  if (how.kind !== 'exited' || how.code !== 0)
    throw new Error(`the program to measure ended with ${JSON.stringify(how)}`);
}

/** Milliseconds of each, taken in turns, so that a noisy machine disturbs all alike. */
export async function timeEach<Name extends string>(
  runs: Readonly<Record<Name, () => Promise<void>>>,
  seconds: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(runs) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt;) {
    for (const name of names) {
      const startedAt = performance.now();
      await runs[name]();
      times[name].push(performance.now() - startedAt);
    }
  }
  return times;
}
