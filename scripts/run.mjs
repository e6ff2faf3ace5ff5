#!/usr/bin/env node
// The way into every npm script. Runs on Node 20 with nothing installed, and goes on with the Node of the project.
import { delimiter, join } from 'node:path';
import { ensureConsoleBuilt } from './console-build.mjs';
import { binFolder, ensureInstalled, InstallError, projectNode, root } from './install.mjs';
import { ensureProgramBuilt } from './program-build.mjs';
import { runChild } from './run-child.mjs';
import { ensureSystemPackages } from './system-packages.mjs';

const commands = {
  start: ['packages/cli/bin/sallyport.mjs', 'up'],
  dev: ['packages/cli/bin/sallyport.mjs'],
  test: ['scripts/test.ts'],
  check: ['scripts/check.ts'],
  format: ['node_modules/.bin/oxfmt'],
  generate: ['scripts/generate.ts'],
  coverage: ['scripts/coverage.ts'],
  bench: ['bench/run.ts'],
  agents: ['test/agents/run.ts'],
  'agent-sdk': ['test/agents/claude-agent-sdk.ts'],
  pack: ['scripts/pack.ts'],
  'fresh-debian': ['test/packages/debian/fresh-debian.ts'],
  demo: ['scripts/demo.ts'],
};

const [name = '', ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, name)) {
  process.stderr.write(`usage: node scripts/run.mjs ${Object.keys(commands).join('|')} [arguments]\n`);
  process.exit(1);
}

try {
  await ensureInstalled();
  await ensureSystemPackages(name);
  await ensureConsoleBuilt(name);
  await ensureProgramBuilt(name);
} catch (error) {
  process.stderr.write(`${error instanceof InstallError ? error.message : error.stack}\n`);
  process.exit(error.exitCode ?? 1);
}

const [script, ...fixedArgs] = commands[name];
// Its week lies in the past, and so does its clock.
const preload = name === 'demo' ? ['--import', join(root, 'scripts/demo/clock.ts')] : [];
const { exitCode, output } = await runChild(projectNode, [...preload, join(root, script), ...fixedArgs, ...args], {
  cwd: root,
  env: {
    ...process.env,
    // The sources as they are, without a build: slower to start.
    ...(name === 'dev' ? { SALLYPORT_SOURCES: '1' } : {}),
    PATH: [binFolder, process.env.PATH].join(delimiter),
    // npm says where the user stood; without npm it is here.
    INIT_CWD: process.env.INIT_CWD ?? process.cwd(),
  },
});
// Only a Node that could not be started leaves a message here.
if (output) process.stderr.write(`${output}Remove node_modules and try again.\n`);
process.exitCode = exitCode;
