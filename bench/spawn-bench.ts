import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findPlaces } from '../packages/sandbox/src/launch/cgroup-places.ts';
import { planLaunch } from '../packages/sandbox/src/launch/plan-launch.ts';
import { probeSandbox } from '../packages/sandbox/src/launch/probe-sandbox.ts';
import { runLaunch } from '../packages/sandbox/src/launch/run-launch.ts';
import { defaultProgramLimits } from '../packages/sandbox/src/program.ts';
import type { Program, RunOptions } from '../packages/sandbox/src/program.ts';
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
export async function runOnce(
  client: SpawnerClient,
  program: Program,
  keys: Pick<RunOptions, 'warmKey' | 'preparedKey'> = {},
): Promise<void> {
  const { how } = await client.run(program, {
    signal: new AbortController().signal,
    onStdout: () => undefined,
    onStderr: () => undefined,
    ...keys,
  });
  if (how.kind !== 'answered' && (how.kind !== 'exited' || how.code !== 0))
    throw new Error(`the program to measure ended with ${JSON.stringify(how)}`);
}

/** A bare child of Node. */
export async function spawnBare(): Promise<void> {
  await once(spawn('/bin/true', { env: {}, stdio: ['pipe', 'pipe', 'pipe'] }), 'close');
}

/** The same sandbox as a child of Node: the same mounts, without limits and unmeasured. */
export async function openRawSandbox(): Promise<() => Promise<void>> {
  const probe = await probeSandbox();
  if (!probe.usable) throw new Error(probe.reason);
  const launch = planLaunch(nothing, probe.machine);
  return async () => {
    const { exitCode, stderr } = await runLaunch(launch, { timeoutMs: 10_000 });
    if (exitCode !== 0) throw new Error(`the sandbox ended with ${exitCode}: ${stderr}`);
  };
}

/** CPU time of the spawner and all it started until now, as the scheduler counts it. NaN where it does not say. */
export function readSpawnerCpuMs({ spawnerPid }: SpawnerClient): number {
  const [, group = ''] = /^0::(.*)$/m.exec(readFileSync(`/proc/${spawnerPid}/cgroup`, 'utf8')) ?? [];
  const root = findPlaces().findLast(({ cpu }) => cpu.version === 2)?.cpu.folder ?? '';
  const [, usage] = /^usage_usec (\d+)$/m.exec(readFileSync(join(root, dirname(group), 'cpu.stat'), 'utf8')) ?? [];
  return Number(usage) / 1000;
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
