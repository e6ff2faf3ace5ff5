// A gate with a believable week of work of six agents, to look at and to show: npm run demo
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDemoHome } from './demo/make-home.ts';
import { root } from './workspace.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1500' },
    pending: { type: 'string', default: '0' },
    folder: { type: 'string' },
    port: { type: 'string', default: '4781' },
    'make-only': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(`npm run demo -- [options]

Makes a new home with a week of work of six agents, starts a gate on it and prints a link to its console.

  --calls N        about how many calls (default: 1500)
  --pending N      how many more requests wait at the end (default: 0)
  --folder FOLDER  where the home and the project go; it must not exist or be empty (default: a temporary folder)
  --port N         of the gate (default: 4781)
  --make-only      make the home, print where it is as JSON, and stop
`);
  process.exit(0);
}

const folder = resolve(values.folder ?? mkdtempSync(join(tmpdir(), 'sallyport-demo-')));
if (existsSync(folder) && readdirSync(folder).length > 0) {
  process.stderr.write(`${folder} is not empty. Name a new folder with --folder.\n`);
  process.exit(1);
}
const isTerminal = process.stderr.isTTY;
const place = await makeDemoHome({
  folder,
  calls: Number(values.calls),
  pending: Number(values.pending),
  onProgress: (done, all) => {
    if (isTerminal) process.stderr.write(`\r${done} of ${all} calls`);
  },
});
if (isTerminal) process.stderr.write('\n');

if (values['make-only']) {
  process.stdout.write(`${JSON.stringify(place)}\n`);
  process.exit(0);
}

const program = join(root, 'packages/cli/bin/sallyport.mjs');
// The gate itself runs with the clock of the machine.
const environment = {
  ...process.env,
  NODE_OPTIONS: '',
  SALLYPORT_HOME: place.home,
  SALLYPORT_WORKSPACE: place.workspace,
  SALLYPORT_PORT: values.port,
};
const gate = spawn(process.execPath, [program, 'up'], { env: environment, stdio: ['inherit', 'pipe', 'inherit'] });
gate.stdout.pipe(process.stdout);
gate.stdout.once('data', () => {
  process.stdout.write(`\nThe demonstration is in ${folder}. Ctrl+C stops it; remove the folder to be rid of it.\n`);
  // In a terminal the gate prints a link of its own.
  if (!process.stdout.isTTY) spawn(process.execPath, [program, 'console'], { env: environment, stdio: 'inherit' });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => gate.kill(signal));
gate.on('exit', (code) => process.exit(code ?? 1));
