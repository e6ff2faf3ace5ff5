// Runs on Node 20 with nothing installed: built-in modules only.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { runChild } from './run-child.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const binFolder = join(root, 'node_modules/.bin');
/** The Node that the project pins, whatever Node the machine has. */
export const projectNode = join(binFolder, 'node');

const lockFile = join(root, '.cache/install.lock');
const heartbeatMs = 2_000;
const staleAfterMs = 15_000;

/** Why the dependencies could not be installed, and what to do about it. */
export class InstallError extends Error {
  constructor(what, output, remedy, exitCode = 1) {
    const lastLines = output.trimEnd().split('\n').slice(-15);
    super([what, ...lastLines.map((line) => `  ${line}`), ...remedy].join('\n'));
    this.exitCode = exitCode;
  }
}

/** Makes node_modules what package-lock.json says. Silent and quick when it already is. */
export async function ensureInstalled() {
  if (isInstalled()) return;
  const release = await lockInstallation();
  try {
    // The process that held the lock before may have done the work.
    if (!isInstalled()) await install();
  } finally {
    release();
  }
}

/** Compares npm's own record of what it installed with the lock file, and the lock file with the manifests. */
function isInstalled(folder = root) {
  const locked = readJson(join(folder, 'package-lock.json'))?.packages;
  const installed = readJson(join(folder, 'node_modules/.package-lock.json'))?.packages;
  if (!locked || !installed || !existsSync(join(folder, 'node_modules/.bin/node'))) return false;
  return Object.entries(locked).every(([path, wanted]) => {
    if (!path.includes('node_modules')) return matchesManifest(wanted, readJson(join(folder, path, 'package.json')));
    const present = installed[path];
    // npm leaves out optional packages that are made for other machines.
    if (!present) return wanted.optional === true;
    return present.version === wanted.version && present.integrity === wanted.integrity && runsHere(present);
  });
}

function matchesManifest(locked, manifest) {
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies', 'bin'];
  return manifest !== undefined && kinds.every((kind) => isDeepStrictEqual(locked[kind], manifest[kind]));
}

/** False for a platform package that came with a node_modules folder from another machine. */
function runsHere({ os, cpu, optional }) {
  const fits = (list, here) => list === undefined || [list].flat().includes(here);
  return optional !== true || (fits(os, process.platform) && fits(cpu, process.arch));
}

async function install() {
  const startedAt = Date.now();
  process.stderr.write('Installing dependencies (once)…\n');
  // The Node in node_modules is about to be replaced, so npm must not run on it.
  const path = process.env.PATH?.split(delimiter).filter((folder) => !folder.endsWith('node_modules/.bin'));
  const env = { ...process.env, PATH: path?.join(delimiter) };
  // Under `npm --silent` a failure would leave nothing to show.
  const args = ['ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional', '--loglevel=warn'];
  const npm = await runChild('npm', args, { cwd: root, env, output: 'capture' });
  if (npm.interruptedBy) throw new InstallError(`Interrupted by ${npm.interruptedBy}.`, '', [], npm.exitCode);
  if (npm.exitCode !== 0) throw new InstallError('npm ci failed:', npm.output, remedyFor(npm.output));
  const node = await runChild(projectNode, ['--version'], { cwd: root, env, output: 'capture' });
  if (node.exitCode !== 0) {
    throw new InstallError('npm ci ended, but the Node of the project does not run:', node.output, [
      'npm may have been told to leave out install scripts or optional packages. Run:',
      '  npm ci --ignore-scripts=false --include=dev --include=optional',
      'An npm that wants approval for install scripts lists them with `npm install-scripts ls`.',
    ]);
  }
  process.stderr.write(`Installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.\n`);
}

function remedyFor(output) {
  if (/ENOENT.*npm|spawn npm/.test(output)) return ['npm is not on the PATH. Install Node.js 20 or newer with npm.'];
  if (/EUSAGE|in sync|from lock file/.test(output)) {
    return ['package.json and package-lock.json disagree. Run `npm install` and commit the lock file.'];
  }
  if (/ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network/.test(output)) {
    return ['The registry cannot be reached. Check the network or `npm config get registry`, then try again.'];
  }
  if (/ENOSPC/.test(output)) return ['The disk is full. Make room and try again.'];
  if (/EACCES|EPERM/.test(output)) return [`Make sure that you may write to ${root}, then try again.`];
  return ['Run `npm ci` to see all of its output.'];
}

/** One installation at a time. The holder keeps the lock fresh, so a lock that nobody touches belongs to the dead. */
async function lockInstallation() {
  mkdirSync(dirname(lockFile), { recursive: true });
  let isWaiting = false;
  while (!tryLock()) {
    if (ageMs(lockFile) > staleAfterMs) {
      rmSync(lockFile, { force: true });
      continue;
    }
    if (!isWaiting) process.stderr.write('Waiting for another installation to end…\n');
    isWaiting = true;
    await sleep(200);
  }
  const heartbeat = setInterval(() => {
    if (existsSync(lockFile)) utimesSync(lockFile, new Date(), new Date());
  }, heartbeatMs).unref();
  return () => {
    clearInterval(heartbeat);
    rmSync(lockFile, { force: true });
  };
}

function tryLock() {
  try {
    writeFileSync(lockFile, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function ageMs(file) {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
