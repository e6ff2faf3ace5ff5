// Runs on Node 20 with nothing but the dependencies installed: built-in modules only.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findMainModule, readRecord } from '../packages/cli/bin/built-program.mjs';
import { root } from './install.mjs';
import { runBuild } from './run-build.mjs';

const script = join(root, 'scripts/build-program.ts');
const commands = ['start', 'test', 'bench', 'pack', 'agents', 'fresh-debian', 'demo'];

/** Puts the program together if its sources have changed since the last time. */
export async function ensureProgramBuilt(command) {
  if (!commands.includes(command) || !existsSync(script) || isBuildCurrent()) return;
  await runBuild('the program', [script]);
}

export function isBuildCurrent() {
  const sources = readRecord()?.sources;
  if (sources === undefined || findMainModule({}).endsWith('.ts')) return false;
  return Object.entries(sources).every(([file, seen]) => describeFile(file) === seen);
}

/** Changes when the file does. Undefined: there is no file. */
export function describeFile(file) {
  const stats = statSync(join(root, file), { throwIfNoEntry: false });
  return stats && `${stats.size} ${stats.mtimeMs}`;
}
