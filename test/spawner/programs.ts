import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultProgramLimits } from '../../packages/sandbox/src/program.ts';
import type { Program, ProgramEnd, ProgramLimits } from '../../packages/sandbox/src/program.ts';
import { findPlaces, distinctPlaces } from '../../packages/sandbox/src/launch/cgroup-places.ts';
import type { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import type { WarmRunOptions } from '../../packages/sandbox/src/spawner/warm-pool.ts';

export interface Changes extends Partial<Omit<Program, 'limits' | 'stdin'>> {
  readonly limits?: Partial<ProgramLimits>;
  readonly stdin?: string;
}

export function program(argv: Program['argv'], changes: Changes = {}): Program {
  return {
    environment: {},
    workingDirectory: '/',
    mounts: [],
    hosts: [],
    isolation: 'sandbox',
    ...changes,
    argv,
    stdin: Buffer.from(changes.stdin ?? ''),
    limits: { ...defaultProgramLimits, ...changes.limits },
  };
}

export const shell = (script: string, changes: Changes = {}): Program => program(['/bin/sh', '-c', script], changes);
export const perl = (script: string, changes: Changes = {}): Program =>
  program(['/usr/bin/perl', '-e', script], changes);

export interface Result extends ProgramEnd {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program and collects what it writes. */
export async function finish(
  client: SpawnerClient,
  toRun: Program,
  options: Partial<WarmRunOptions> = {},
): Promise<Result> {
  const written = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const end = await client.run(toRun, {
    signal: new AbortController().signal,
    onStdout: (bytes) => void written.stdout.push(bytes),
    onStderr: (bytes) => void written.stderr.push(bytes),
    ...options,
  });
  const text = (chunks: Uint8Array[]): string => Buffer.concat(chunks).toString();
  return { ...end, stdout: text(written.stdout), stderr: text(written.stderr) };
}

/** Control groups and temporary folders of these spawners that are still there. */
export function listLeftovers(spawnerPids: Iterable<number | undefined>): string[] {
  const pids = new Set([...spawnerPids].map(String));
  const folders = [
    ...findPlaces()
      .flatMap(distinctPlaces)
      .map(({ folder }) => folder),
    '/dev/shm',
    tmpdir(),
  ];
  const isOurs = (name: string): boolean => pids.has(/^sallyport-\d+-(\d+)-\d+$/.exec(name)?.[1] ?? '');
  return [...new Set(folders)].flatMap((folder) =>
    readdirSync(folder)
      .filter(isOurs)
      .map((name) => `${folder}/${name}`),
  );
}

/** Processes with the text in their command line. */
export function findProcesses(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => readOr(`/proc/${pid}/cmdline`, '').includes(text))
    .map(Number);
}

/** Waits for what happens in another process; fails after a minute, which is long on a busy machine too. */
export async function eventually(isTrue: () => boolean, what: string): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while (!isTrue()) {
    assert.ok(Date.now() < endsAt, `not within a minute: ${what}`);
    await sleep(20);
  }
}

/** A number that no other program has in its command line, for `sleep`. */
export function uniqueSeconds(): string {
  lastSeconds += 1;
  return `${lastSeconds}.${process.pid}`;
}

let lastSeconds = 100_000;

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return otherwise;
  }
}
