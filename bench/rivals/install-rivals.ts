import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = import.meta.dirname;
const lock = join(folder, 'package-lock.json');
const installedFrom = join(folder, 'node_modules/.installed-from');

/** Installs what the lock names, once. Only the benchmarks that compare with others call this: nothing else pays for it. */
export async function installRivals(): Promise<void> {
  const wanted = readFileSync(lock, 'utf8');
  if (readIfThere(installedFrom) === wanted) return;
  process.stderr.write('installing what to compare with (once) …\n');
  const how = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', how, { cwd: folder, maxBuffer: 1 << 24 }).catch((error: unknown) => {
    throw new Error(`npm ci failed in ${folder}; run it there to see why`, { cause: error });
  });
  writeFileSync(installedFrom, wanted);
}

/** The program of a rival, to be run with Node. */
export function programOf(rival: 'mcp-proxy' | 'supergateway'): string {
  const manifest = join(folder, 'node_modules', rival, 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly bin: Readonly<Record<string, string>> };
  return join(manifest, '..', bin[rival] ?? '');
}

/** The exports of a rival, which is no dependency: the caller says what it uses of it. */
export async function importRival<Exports>(name: string): Promise<Exports> {
  const entry = createRequire(lock).resolve(name);
  return (await import(pathToFileURL(entry).href)) as Exports;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
