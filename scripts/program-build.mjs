// Runs on Node 20 with nothing but the dependencies installed: built-in modules only.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isBuildCurrent } from '../packages/gateway/bin/built-program.mjs';
import { root } from './install.mjs';
import { runBuild } from './run-build.mjs';

const script = join(root, 'packages/gateway/build.ts');
const commands = ['start', 'test', 'bench'];

/** Puts the program together if its sources have changed since. Without, the sources run, and start more slowly. */
export async function ensureProgramBuilt(command) {
  if (!commands.includes(command) || !existsSync(script) || isBuildCurrent()) return;
  await runBuild('the program', [script]);
}
