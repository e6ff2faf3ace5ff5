// Runs on Node 20 with nothing but the dependencies installed: built-in modules only.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';
import { runBuild } from './run-build.mjs';

const consoleFolder = join(root, 'packages/console');
const builtFolder = join(consoleFolder, 'dist');
/** What the built files depend on; of the dependencies, the lock file tells enough. */
const sources = ['packages/console', 'packages/contract/src', 'package-lock.json'];
const commands = ['start', 'test', 'coverage', 'pack', 'fresh-debian', 'demo'];

/**
 * Builds the web console if its sources have changed since it was built. A console that cannot be built keeps nobody
 * from starting the gate, which then says what is missing.
 */
export async function ensureConsoleBuilt(command) {
  if (!commands.includes(command) || !existsSync(consoleFolder)) return;
  const stamp = hashSources();
  if (readStamp() === stamp) return;
  // Built aside and put in place whole: another start may be reading the files that are there.
  const fresh = join(consoleFolder, `dist-${process.pid}`);
  try {
    if (await runBuild('the console', [join(consoleFolder, 'build.ts'), fresh])) {
      writeFileSync(join(fresh, 'stamp'), stamp);
      replaceFolder(builtFolder, fresh);
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function replaceFolder(target, fresh) {
  const old = `${fresh}-old`;
  if (existsSync(target)) renameSync(target, old);
  renameSync(fresh, target);
  rmSync(old, { recursive: true, force: true });
}

function readStamp() {
  try {
    return readFileSync(join(builtFolder, 'stamp'), 'utf8');
  } catch {
    return undefined;
  }
}

/** By content, because a fresh clone has fresh times. */
function hashSources() {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(listFiles)) {
    const content = createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('hex');
    hash.update(`${file}\0${content}\n`);
  }
  return hash.digest('hex');
}

function listFiles(path) {
  if (!path.startsWith('packages/')) return [path];
  // Of what is generated, the console uses the types alone.
  const isSource = ({ name }) => !/^(?:node_modules|gen|dist.*|.*\.test\.ts)$/.test(name);
  const entries = readdirSync(join(root, path), { withFileTypes: true }).filter(isSource);
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? listFiles(`${path}/${entry.name}`) : [`${path}/${entry.name}`]));
}
