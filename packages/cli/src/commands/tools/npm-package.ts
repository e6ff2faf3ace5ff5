import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import type { BundlePart } from '@sallyport/gateway';
import { usageFailure } from '../../client/failure.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';
import { listParts, openFolderSource } from './program-source.ts';
import type { ProgramSource } from './program-source.ts';
import { runNpm } from './run-npm.ts';

export interface NpmOptions {
  /** Which of its programs. Absent: its only one, or the one that is called like the package. */
  readonly bin?: string;
}

/** A package and everything it depends on, as npm laid it out. The folder is gone when it is disposed of. */
export interface FetchedPackage extends AsyncDisposable {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** How many packages there are, itself included. */
  readonly packages: number;
  readonly parts: readonly BundlePart[];
  /** What its program is called. */
  readonly bin: string;
  /** The file to start, in the folder. */
  readonly entry: string;
  /** All of it as one program, which lies under this name in the folder of its kind. */
  readonly openSource: (fileName: string) => Promise<ProgramSource>;
}

const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const largestJsonBytes = 16 * 1024 * 1024;

/** A package of the registry, such as `@scope/name@1.2.0`, or a packed one on this machine. Nothing else: no address. */
export function isPackageSpec(text: string): boolean {
  if (text.endsWith('.tgz')) return existsSync(text);
  const { name, version } = splitSpec(text);
  return packageName.test(name) && (version === undefined || /^[\w.^~<>=*|-]+$/.test(version));
}

function splitSpec(text: string): { readonly name: string; readonly version?: string } {
  const at = text.indexOf('@', 1);
  return at < 0 ? { name: text } : { name: text.slice(0, at), version: text.slice(at + 1) };
}

/**
 * Has npm put a package and what it depends on into a folder of its own, in the sandbox and without running any of their
 * scripts. Nothing that comes back is trusted: links and files that the lock does not vouch for are refused.
 */
export async function fetchPackage(spec: string, options: NpmOptions): Promise<FetchedPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-npm-'));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await runNpm(folder, spec, spec.endsWith('.tgz') ? { packed: spec } : {});
    return { ...(await describePackage(join(folder, 'tree'), options)), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

interface PackageFile {
  readonly bin?: string | Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages?: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

async function describePackage(
  folder: string,
  options: NpmOptions,
): Promise<Omit<FetchedPackage, keyof AsyncDisposable>> {
  // First of all: it refuses links, so that what is read afterwards lies in the folder.
  const parts = await listParts(folder);
  const { packages = {} } = await readJson<Lock>(join(folder, 'package-lock.json'));
  const [name = ''] = Object.keys(packages['']?.dependencies ?? {});
  if (!packageName.test(name))
    throw usageFailure(`npm fetched a package with a strange name: ${makeVisibleLine(name)}`);
  checkLock(packages);
  const { bin = {} } = await readJson<PackageFile>(join(folder, 'node_modules', name, 'package.json'));
  const { chosen, file } = chooseBin(name, bin, options);
  const entry = posix.join('node_modules', name, file);
  if (!entry.startsWith(`node_modules/${name}/`) || !parts.some(({ path }) => path === entry)) {
    throw usageFailure(`The program ${makeVisibleLine(chosen)} of ${name} is not in the package.`);
  }
  const written = new Map([['tool.json', Buffer.from(`${JSON.stringify({ entry })}\n`)]]);
  return {
    ...{ folder, name, parts, entry, bin: chosen },
    version: packages[`node_modules/${name}`]?.version ?? '',
    packages: Object.keys(packages).length - 1,
    openSource: (fileName) => openFolderSource(folder, fileName, { entry, written }),
  };
}

/** Throws unless the lock says of every package what its bytes are. */
function checkLock(packages: Readonly<Record<string, LockedPackage>>): void {
  for (const [path, { integrity, link, inBundle }] of Object.entries(packages)) {
    if (path === '' || inBundle === true || (typeof integrity === 'string' && link !== true)) continue;
    throw usageFailure(
      `${makeVisibleLine(path)} cannot be pinned: it does not come from a registry.`,
      'Ask its authors for a package that depends on published packages only.',
    );
  }
}

function chooseBin(name: string, bin: NonNullable<PackageFile['bin']>, options: NpmOptions) {
  const shortName = name.replace(/^@[^/]*\//, '');
  const bins = new Map(Object.entries(typeof bin === 'string' ? { [shortName]: bin } : bin));
  const chosen = options.bin ?? (bins.size === 1 ? [...bins.keys()][0] : shortName) ?? '';
  const file = bins.get(chosen);
  if (typeof file === 'string') return { chosen, file };
  const names = [...bins.keys()].slice(0, 20).map(makeVisibleLine).join(', ');
  throw names === ''
    ? usageFailure(`${name} holds no program.`)
    : usageFailure(`${name} has several programs: ${names}.`, 'Choose one with --bin.');
}

async function readJson<T extends object>(file: string): Promise<T> {
  const { size } = await lstat(file);
  if (size > largestJsonBytes) throw usageFailure(`${file} is too large.`);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null) return value as T;
  throw usageFailure(`${file} is not JSON.`);
}
