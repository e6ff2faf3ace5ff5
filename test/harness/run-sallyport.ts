import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { environmentOf } from './daemon.ts';
import type { Place } from './daemon.ts';

const program = join(import.meta.dirname, '../../packages/cli/bin/sallyport.mjs');

/** Runs the command line to its end and returns what it said. */
export function runSallyport(
  place: Place,
  args: readonly string[],
  environment: Record<string, string> = {},
  input = '',
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env: environmentOf(place, environment),
    cwd: place.folder,
    encoding: 'utf8',
    input,
    timeout: 180_000,
  });
  if (status === null) throw new Error(`sallyport ${args.join(' ')} did not end: ${stdout}${stderr}`);
  return { status, stdout, stderr };
}

/** The same, while this process goes on: what the command waits for may be up to a client in here. */
export async function runSallyportBeside(
  place: Place,
  args: readonly string[],
  environment: Record<string, string> = {},
  /** As this user. Absent: as the one of the tests. */
  { uid }: { readonly uid?: number } = {},
) {
  const child = spawn(process.execPath, [program, ...args], {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    env: environmentOf(place, environment),
    cwd: place.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  if (status === null) throw new Error(`sallyport ${args.join(' ')} did not end: ${stdout}${stderr}`);
  return { status, stdout, stderr };
}
