import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

const scripts = join(import.meta.dirname, '../../scripts');

// A checkout in small: the real scripts, a lock file with one package, and a program in place of the daemon.
let checkout: string;
const lock = { packages: { '': { devDependencies: { node: '26.0.0' } }, 'node_modules/node': { version: '26.0.0' } } };
const installedLock = { packages: { 'node_modules/node': { version: '26.0.0' } } };

// Stands in for npm, which needs a registry: notes that it ran, and puts Node where npm would.
const npmThatWorks = `echo run >> npm-runs; sleep 0.5; mkdir -p node_modules/.bin
  ln -sf ${process.execPath} node_modules/.bin/node
  echo '${JSON.stringify(installedLock)}' > node_modules/.package-lock.json`;

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  const isScript = (name: string): boolean => name.endsWith('.mjs');
  for (const name of readdirSync(scripts).filter(isScript))
    cpSync(join(scripts, name), join(checkout, 'scripts', name));
  const builtProgram = 'packages/cli/bin/built-program.mjs';
  cpSync(join(scripts, '..', builtProgram), join(checkout, builtProgram));
  write('package.json', JSON.stringify({ type: 'module', devDependencies: { node: '26.0.0' } }));
  write('package-lock.json', JSON.stringify(lock));
  setProgram(`console.log('ran', process.argv.slice(2).join(' '));`);
});

afterEach(() => rmSync(checkout, { recursive: true, force: true }));

function write(path: string, content: string): void {
  mkdirSync(join(checkout, path, '..'), { recursive: true });
  writeFileSync(join(checkout, path), content);
}

function setProgram(source: string): void {
  write('packages/cli/bin/sallyport.mjs', source);
}

function setNpm(script: string): void {
  write('bin/npm', `#!/bin/sh\n${script}\n`);
  chmodSync(join(checkout, 'bin/npm'), 0o755);
}

function installByHand(): void {
  mkdirSync(join(checkout, 'node_modules/.bin'), { recursive: true });
  symlinkSync(process.execPath, join(checkout, 'node_modules/.bin/node'));
  write('node_modules/.package-lock.json', JSON.stringify(installedLock));
}

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
}

function start(...args: readonly string[]): Started {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: `${join(checkout, 'bin')}:/usr/bin:/bin`,
    INIT_CWD: undefined,
  };
  const child = spawn(process.execPath, [join(checkout, 'scripts/run.mjs'), ...args], { cwd: checkout, env });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output: text }));
  return { child, output: () => text, ended };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('an installed checkout runs at once and says nothing of its own', async () => {
  installByHand();
  setNpm('exit 1');
  assert.deepEqual(await start('start', '--port', '0').ended, { code: 0, output: 'ran up --port 0\n' });
});

test('a fresh checkout is installed first', async () => {
  setNpm(npmThatWorks);
  const { code, output } = await start('start').ended;
  assert.match(output, /^Installing dependencies \(once\)…\nInstalled in [\d.]+ s\.\nran up\n$/);
  assert.equal(code, 0);
  assert.equal((await start('start').ended).output, 'ran up\n');
});

test('two starts at the same time install once', async () => {
  setNpm(npmThatWorks);
  const [one, two] = await Promise.all([start('start').ended, start('start').ended]);
  assert.deepEqual([one.code, two.code], [0, 0]);
  assert.equal(readFileSync(join(checkout, 'npm-runs'), 'utf8'), 'run\n');
  assert.match(one.output + two.output, /Waiting for another installation to end…/);
});

test('the lock of a process that died does not block', async () => {
  setNpm(npmThatWorks);
  write('.cache/install.lock', '1\n');
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(join(checkout, '.cache/install.lock'), longAgo, longAgo);
  assert.equal((await start('start').ended).code, 0);
  assert.equal(existsSync(join(checkout, '.cache/install.lock')), false);
});

test('a change of the lock file or of a manifest installs again', async () => {
  installByHand();
  setNpm('echo "from lock file" >&2; exit 1');
  const newer = { packages: { ...lock.packages, 'node_modules/node': { version: '26.1.0' } } };
  write('package-lock.json', JSON.stringify(newer));
  assert.match((await start('start').ended).output, /Installing dependencies/);
  write('package-lock.json', JSON.stringify(lock));
  write('package.json', JSON.stringify({ type: 'module', devDependencies: { node: '26.0.0', extra: '1.0.0' } }));
  const { code, output } = await start('start').ended;
  assert.match(output, /package\.json and package-lock\.json disagree\. Run `npm install`/);
  assert.equal(code, 1);
});

test('when npm fails, its last lines and a remedy are shown', async () => {
  setNpm('for line in $(seq 100); do echo "line $line"; done; echo "npm error code ENOTFOUND" >&2; exit 1');
  const { code, output } = await start('start').ended;
  assert.equal(code, 1);
  assert.match(output, /npm ci failed:/);
  assert.match(output, /line 100/);
  assert.doesNotMatch(output, /line 50\n/);
  assert.match(output, /The registry cannot be reached/);
  assert.equal(existsSync(join(checkout, '.cache/install.lock')), false);
});

test('when npm leaves Node out, the message says how to get it', async () => {
  setNpm('exit 0');
  const { code, output } = await start('start').ended;
  assert.equal(code, 1);
  assert.match(output, /the Node of the project does not run/);
  assert.match(output, /npm ci --ignore-scripts=false --include=dev --include=optional/);
});

test('without npm the message says so', async () => {
  write('bin/node', '');
  const env = { ...process.env, PATH: join(checkout, 'bin') };
  const child = spawn(process.execPath, [join(checkout, 'scripts/run.mjs'), 'start'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const [code] = (await once(child, 'close')) as [number];
  assert.equal(code, 1);
  assert.match(text, /npm is not on the PATH/);
});

function setConsole(source: string): void {
  write('packages/contract/src/codes.ts', '');
  write('packages/console/build.ts', source);
}

const buildThatWorks = `import { mkdirSync, writeFileSync } from 'node:fs';
  mkdirSync(process.argv[2]);
  writeFileSync(process.argv[2] + '/index.html', 'built');`;

test('the console is built when its sources have changed, and only then', async () => {
  installByHand();
  setConsole(buildThatWorks);
  const built = /^Building the console \(once\)…\nBuilt in [\d.]+ s\.\nran up\n$/;
  assert.match((await start('start').ended).output, built);
  assert.equal((await start('start').ended).output, 'ran up\n');
  write('packages/console/src/app.tsx', 'changed');
  assert.match((await start('start').ended).output, built);
  assert.equal(readFileSync(join(checkout, 'packages/console/dist/index.html'), 'utf8'), 'built');
});

test('the program is put together when its sources have changed, and only then', async () => {
  installByHand();
  write('packages/cli/src/a.ts', 'one');
  write(
    'scripts/build-program.ts',
    `import { mkdirSync, writeFileSync } from 'node:fs';
    import { recordFile } from '../packages/cli/bin/built-program.mjs';
    import { describeFile } from './program-build.mjs';
    const dist = import.meta.dirname + '/../packages/cli/dist';
    mkdirSync(dist + '/x', { recursive: true });
    writeFileSync(dist + '/x/main.js', '');
    const sources = { 'packages/cli/src/a.ts': describeFile('packages/cli/src/a.ts') };
    writeFileSync(recordFile, JSON.stringify({ folder: 'x', sources }));`,
  );
  const built = /^Building the program \(once\)…\nBuilt in [\d.]+ s\.\nran up\n$/;
  assert.match((await start('start').ended).output, built);
  assert.equal((await start('start').ended).output, 'ran up\n');
  write('packages/cli/src/a.ts', 'another');
  assert.match((await start('start').ended).output, built);
});

test('a console that cannot be built does not keep the daemon from starting', async () => {
  installByHand();
  setConsole(`throw new Error('no luck');`);
  const { code, output } = await start('start').ended;
  assert.match(output, /The console could not be built:[^]*no luck[^]*Going on without\.\nran up\n$/);
  assert.equal(code, 0);
});

/** A machine without bubblewrap, and an apt-get that puts it there. */
function lackBubblewrap(): { readonly file: string; readonly calls: () => string } {
  const [file, calls] = [join(checkout, 'bwrap'), join(checkout, 'apt-calls')];
  const script = join(checkout, 'scripts/system-packages.mjs');
  const source = readFileSync(script, 'utf8');
  const aptGet = join(checkout, 'bin/apt-get');
  writeFileSync(script, source.replace('/usr/bin/bwrap', file).replace('/usr/bin/apt-get', aptGet));
  write('bin/apt-get', `#!/bin/sh\necho "$@" >> ${calls}\ntouch ${file}\n`);
  chmodSync(aptGet, 0o755);
  return { file, calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8') : '') };
}

const asRoot = { skip: process.getuid?.() !== 0 && 'only root installs packages' };

test('without a person, what the machine lacks is installed and the program starts', asRoot, async () => {
  installByHand();
  const { calls } = lackBubblewrap();
  const installing = 'Installing bubblewrap with apt-get (once)…\n';
  assert.deepEqual(await start('start').ended, { code: 0, output: `${installing}ran up\n` });
  assert.equal(calls(), '-y -q --no-install-recommends install bubblewrap\n');
  assert.deepEqual(await start('start').ended, { code: 0, output: 'ran up\n' });
});

/** Runs at a real terminal, where somebody types an answer. */
async function answerAtTerminal(keys: string): Promise<string> {
  const command = `${process.execPath} ${join(checkout, 'scripts/run.mjs')} start`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: checkout,
    env: { ...process.env, SHELL: '/bin/sh' },
  });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  const ended = once(child, 'close');
  await Promise.race([until(() => screen.includes('[y/N] ')), ended]);
  child.stdin.write(keys);
  await ended;
  return screen.replaceAll('\r\n', '\n');
}

test(
  'a person at the terminal is asked before a package is installed, and no answer but yes installs',
  asRoot,
  async () => {
    installByHand();
    const { calls, file } = lackBubblewrap();
    for (const keys of ['n\r', '\r', '\x04']) {
      const screen = await answerAtTerminal(keys);
      assert.match(screen, /This needs bubblewrap\. Install with apt-get\? \[y\/N\] [^]*Going on without\.\nran up\n/);
    }
    assert.equal(calls(), '');
    assert.match(await answerAtTerminal('y\r'), /Installing bubblewrap with apt-get \(once\)…\nran up\n/);
    assert.ok(existsSync(file));
  },
);

test('an unknown command is a usage error', async () => {
  const { code, output } = await start('fly').ended;
  assert.equal(code, 1);
  assert.match(output, /^usage: .*start\|dev\|test\|check/);
});

test('the program finds its own Node first and learns where the user stood', async () => {
  installByHand();
  setProgram(`console.log(process.env.PATH.split(':')[0]); console.log(process.env.INIT_CWD);`);
  const { output } = await start('start').ended;
  assert.deepEqual(output.trim().split('\n'), [join(checkout, 'node_modules/.bin'), checkout]);
});

test('the exit code of the program is ours', async () => {
  installByHand();
  setProgram('process.exit(3);');
  assert.equal((await start('start').ended).code, 3);
  setProgram(`process.kill(process.pid, 'SIGKILL');`);
  assert.equal((await start('start').ended).code, 137);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} reaches the program once, and its exit code comes back`, async () => {
    installByHand();
    setProgram(`
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {
        console.log('got', signal);
        setTimeout(() => process.exit(42), 200);
      });
      setInterval(() => {}, 1000);
      console.log('ready');`);
    const { child, output, ended } = start('start');
    await until(() => output().includes('ready'));
    // npm passes a signal on although the terminal has sent it already.
    child.kill(signal);
    child.kill(signal);
    assert.deepEqual(await ended, { code: 42, output: `ready\ngot ${signal}\n` });
  });
}

test('under npm the program ends when the shell between is killed', async () => {
  installByHand();
  setProgram(`
    process.on('SIGTERM', () => process.exit(0));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  const command = `"${process.execPath}" scripts/run.mjs start; exit`;
  const env = { ...process.env, npm_lifecycle_event: 'start' };
  const shell = spawn('/bin/sh', ['-c', command], { cwd: checkout, env, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(shell.stdout, 'data');
  shell.kill('SIGKILL');
  // Shell, wrapper and program share the pipe; it closes when the last of them is gone.
  await once(shell, 'close');
});
