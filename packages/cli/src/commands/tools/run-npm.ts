import { execFile } from 'node:child_process';
import { chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { exitCodes } from '@sallyport/contract/codes';
import {
  chooseUser,
  defaultProgramLimits,
  OutputTail,
  ProgramNotStarted,
  runtimeFolder,
  SpawnerClient,
} from '@sallyport/sandbox';
import type { NetworkEvent, Program } from '@sallyport/sandbox';
import { CommandFailure, interrupted, usageFailure } from '../../client/failure.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** What npm is set to on this machine, as far as it matters to a download. */
interface NpmSettings {
  /** Where npm itself lies. */
  readonly folder: string;
  /** `host:port` of every registry. */
  readonly hosts: readonly string[];
  /** Files that npm reads its settings from, by the option that names them. */
  readonly files: Readonly<Record<string, string>>;
}

/** As npm sees them in the sandbox. */
const npmFolder = '/tool/npm';
const workFolder = '/tool/work';
const settingFiles = ['userconfig', 'globalconfig', 'cafile'] as const;
/** Whatever npm is set to: what is fetched can be pinned, and nothing of it runs. */
const options = [
  ...[`--prefix=${workFolder}/tree`, `--cache=${workFolder}/cache`, '--no-global', '--no-workspaces'],
  ...['--ignore-scripts', '--no-bin-links', '--omit=dev', '--package-lock', '--save', '--install-strategy=hoisted'],
  ...['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'],
  // Settings are read from the files that follow, and from no others.
  ...['--userconfig=/tool/no-user', '--globalconfig=/tool/no-global'],
];
const fetchWithinMs = 5 * 60_000;
const limits = { ...defaultProgramLimits, cpuMs: 5 * 60_000, openFiles: 4096, memoryBytes: 2 * 1024 * 1024 * 1024 };

/**
 * Has npm put a package and what it depends on into `tree` of an empty folder. npm runs in the sandbox: it sees that
 * folder and its own settings, reaches the registries that they name, and runs no script of any package.
 *
 * `packed`: the package is this file. Throws CommandFailure; what npm wrote until then is the caller's to remove.
 */
export async function runNpm(folder: string, spec: string, { packed }: { readonly packed?: string }): Promise<void> {
  const settings = await readSettings(folder);
  const work = realpathSync(folder);
  for (const each of ['', 'tree', 'settings']) {
    mkdirSync(join(work, each), { recursive: true });
    giveAway(join(work, each));
  }
  // Copies: the user that npm runs as may not be allowed to read the files themselves.
  const show = (source: string, name: string): string => {
    copyFileSync(source, join(work, name));
    giveAway(join(work, name));
    return `${workFolder}/${name}`;
  };
  const files = settingFiles.flatMap((name) => {
    const source = settings.files[name];
    return source === undefined ? [] : [`--${name}=${show(source, `settings/${name}`)}`];
  });
  const named = packed === undefined ? spec : show(packed, 'packed.tgz');
  const program: Program = {
    argv: [`${runtimeFolder}/bin/node`, `${npmFolder}/bin/npm-cli.js`, 'install', ...options, ...files, '--', named],
    environment: { ...inheritedVariables(settings), NODE_PATH: '/usr/share/nodejs' },
    workingDirectory: `${workFolder}/tree`,
    stdin: new Uint8Array(),
    mounts: [
      { source: settings.folder, target: npmFolder, access: 'read' },
      { source: work, target: workFolder, access: 'write' },
    ],
    hosts: settings.hosts,
    limits,
    isolation: 'sandbox',
  };
  await run(program, spec);
}

async function run(program: Program, spec: string): Promise<void> {
  // As the daemon runs programs: where the kernel does not hold limits for this user, they are watched.
  const client = new SpawnerClient({ enforcement: 'sampled' });
  const leave = new AbortController();
  const onInterrupt = (): void => leave.abort();
  process.on('SIGINT', onInterrupt);
  const said = new OutputTail();
  const refused: string[] = [];
  try {
    const { how } = await client.run(program, {
      signal: AbortSignal.any([leave.signal, AbortSignal.timeout(fetchWithinMs)]),
      onStdout: () => undefined,
      onStderr: (chunk) => said.add(chunk),
      onNetwork: (events) => refused.push(...events.flatMap(spellRefused)),
    });
    if (leave.signal.aborted) throw interrupted();
    if (how.kind !== 'exited')
      throw npmFailed(spec, how.kind === 'aborted' ? 'it took too long' : `it was ended: ${how.kind}`);
    if (how.code !== 0) throw npmFailed(spec, explain(said.read()), refused);
  } catch (error) {
    if (!(error instanceof ProgramNotStarted)) throw error;
    const { message, remedy } = error;
    throw new CommandFailure('NPM_FAILED', exitCodes.toolError, `npm runs in the sandbox only: ${message}`, {
      ...(remedy === undefined ? {} : { remedy }),
    });
  } finally {
    process.off('SIGINT', onInterrupt);
    await client.close();
  }
}

async function readSettings(folder: string): Promise<NpmSettings> {
  const { stdout } = await promisify(execFile)('npm', ['config', 'list', '--json'], {
    cwd: folder,
    maxBuffer: 1 << 24,
  }).catch((error: unknown) => {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing ? usageFailure('npm is not installed.') : npmFailed('its settings', 'it cannot read them');
  });
  const settings = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  const textAt = (name: string): string => {
    const value = settings[name];
    return typeof value === 'string' ? value : '';
  };
  const registries = Object.keys(settings).filter((name) => name === 'registry' || name.endsWith(':registry'));
  const found = settingFiles.map((name) => [name, textAt(name)] as const).filter(([, file]) => existsSync(file));
  return {
    folder: findNpm(textAt('prefix')),
    hosts: [...new Set(registries.map((name) => hostOf(textAt(name))))],
    files: Object.fromEntries(found.map(([name, file]) => [name, realpathSync(file)])),
  };
}

/** The package of npm: `npm` on the path leads to a file of it, or is a script of a version manager. */
function findNpm(prefix: string): string {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'npm'));
  const file = onPath.find((candidate) => existsSync(candidate));
  const candidates = [
    ...(file === undefined ? [] : [dirname(dirname(realpathSync(file)))]),
    join(prefix, 'lib/node_modules/npm'),
  ];
  const folder = candidates.find((candidate) => existsSync(join(candidate, 'bin/npm-cli.js')));
  if (folder === undefined) throw usageFailure('npm is installed in a way that Sallyport does not know.');
  return realpathSync(folder);
}

function hostOf(registry: string): string {
  const url = URL.parse(registry);
  if (url === null || !['https:', 'http:'].includes(url.protocol)) {
    throw usageFailure(`npm is set to a registry that is not an address: ${makeVisibleLine(registry)}`);
  }
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

/** What npm is told by variables, and those that its settings refer to, such as that of a token. */
function inheritedVariables({ files }: NpmSettings): Readonly<Record<string, string>> {
  const texts = [files['userconfig'], files['globalconfig']].map((file) =>
    file === undefined ? '' : readFileSync(file, 'utf8'),
  );
  const referred = new Set([...texts.join('\n').matchAll(/\$\{(\w+)\??\}/g)].map(([, name = '']) => name));
  const isForNpm = (name: string): boolean => /^npm_config_/i.test(name) || referred.has(name);
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && isForNpm(name) ? [[name, value]] : [],
    ),
  );
}

/** Programs that root starts run as another user, who has to be able to write there. */
function giveAway(folder: string): void {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const user = process.getuid === undefined ? undefined : chooseUser(own, []);
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
}

function spellRefused({ outcome, target }: NetworkEvent): readonly string[] {
  return outcome === 'connected' ? [] : [`${target} (${outcome})`];
}

function explain(said: string): string {
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const [why = lines.at(-1) ?? 'it does not say why'] = lines.flatMap(
    (line) => /^npm (?:error|ERR!) (?!code )(.+)/.exec(line)?.[1] ?? [],
  );
  return why.slice(0, 300);
}

function npmFailed(spec: string, why: string, refused: readonly string[] = []): CommandFailure {
  const targets = [...new Set(refused)].slice(0, 5).map(makeVisibleLine).join(', ');
  return new CommandFailure(
    'NPM_FAILED',
    exitCodes.toolError,
    `npm could not fetch ${makeVisibleLine(spec)}: ${makeVisibleLine(why)}`,
    targets === ''
      ? {}
      : {
          remedy: `It reaches the registries of your npm settings and nothing else. It did not reach: ${targets}. A registry in your own network is reached if npm is set to its address and port.`,
        },
  );
}
