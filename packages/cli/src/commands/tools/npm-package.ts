import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix, resolve } from 'node:path';
import { exitCodes } from '@sallyport/contract/codes';
import { CommandFailure, hasErrorCode, interrupted, usageFailure } from '../../client/failure.ts';
import { chooseFileName, openFolderSource } from './program-source.ts';
import type { ProgramSource } from './program-source.ts';

export interface NpmOptions {
  readonly name?: string;
  /** Which of its programs. Absent: its only one, or the one that is called like the package. */
  readonly bin?: string;
}

export interface FetchedPackage extends AsyncDisposable {
  readonly source: ProgramSource;
}

const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

/** A package of the registry, such as `@scope/name@1.2.0`, or a packed one on this machine. Nothing else: no address. */
export function isPackageSpec(text: string): boolean {
  if (text.endsWith('.tgz')) return existsSync(text);
  const at = text.indexOf('@', 1);
  const [name, version] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  return packageName.test(name) && (at < 0 || /^[\w.^~<>=*|-]+$/.test(version));
}

/**
 * Has npm put a package and what it depends on into a folder of its own, without running any of their scripts. The
 * folder is gone when it is disposed of.
 */
export async function fetchPackage(spec: string, options: NpmOptions): Promise<FetchedPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-npm-'));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await runNpm(folder, spec.endsWith('.tgz') ? resolve(spec) : spec);
    return { source: await describePackage(folder, options), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function runNpm(folder: string, spec: string): Promise<void> {
  const settings = ['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--no-update-notifier'];
  // A project of its own: files around it, or in the person's folder, are not touched.
  const args = ['install', '--prefix', folder, '--no-workspaces', ...settings, '--', spec];
  const leave = new AbortController();
  const onInterrupt = (): void => leave.abort();
  process.on('SIGINT', onInterrupt);
  try {
    const npm = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], signal: leave.signal });
    let said = '';
    npm.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)));
    const [code] = (await once(npm, 'close')) as [number | null];
    if (code !== 0) throw npmFailed(spec, said);
  } catch (error) {
    if (leave.signal.aborted) throw interrupted();
    throw hasErrorCode(error, 'ENOENT') ? usageFailure('npm is not installed.') : error;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

function npmFailed(spec: string, said: string): CommandFailure {
  const [why = 'it does not say why'] = said
    .split('\n')
    .map((line) => /^npm (?:error|ERR!) (?!code )(.+)/.exec(line)?.[1] ?? '')
    .filter((line) => line.trim() !== '');
  return new CommandFailure('NPM_FAILED', exitCodes.toolError, `npm could not fetch ${spec}: ${why}`);
}

interface PackageFile {
  readonly name: string;
  readonly bin?: string | Readonly<Record<string, string>>;
}

async function describePackage(folder: string, options: NpmOptions): Promise<ProgramSource> {
  const project = await readJson<{ dependencies?: Readonly<Record<string, string>> }>(join(folder, 'package.json'));
  const [name = ''] = Object.keys(project.dependencies ?? {});
  const { bin = {} } = await readJson<PackageFile>(join(folder, 'node_modules', name, 'package.json'));
  const shortName = name.replace(/^@[^/]*\//, '');
  const bins = new Map(Object.entries(typeof bin === 'string' ? { [shortName]: bin } : bin));
  const chosen = options.bin ?? (bins.size === 1 ? [...bins.keys()][0] : shortName) ?? '';
  const file = bins.get(chosen);
  if (file === undefined) {
    const names = [...bins.keys()].join(', ');
    throw names === ''
      ? usageFailure(`${name} holds no program.`)
      : usageFailure(`${name} has several programs: ${names}.`, 'Choose one with --bin.');
  }
  const entry = posix.join('node_modules', name, file);
  const fileName = chooseFileName(chosen.toLowerCase(), options.name);
  const settings = `${JSON.stringify({ entry })}\n`;
  return openFolderSource(folder, fileName, { entry, written: new Map([['tool.json', Buffer.from(settings)]]) });
}

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T;
}
