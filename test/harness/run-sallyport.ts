import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
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
    timeout: 60_000,
  });
  if (status === null) throw new Error(`sallyport ${args.join(' ')} did not end: ${stdout}${stderr}`);
  return { status, stdout, stderr };
}
