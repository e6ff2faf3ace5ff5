import { existsSync, lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attempt } from '@sallyport/contract';
import { ConfigError } from '../call/fault.ts';
import { describeHome } from './home/home.ts';
import type { Home } from './home/home.ts';
import { movedToolsFolder } from '../policy/judge/protected-paths.ts';

export const defaultPort = 4780;

export interface Config {
  readonly home: Home;
  /** 0: any free port. */
  readonly port: number;
  readonly userHome: string;
  /** The folder the person started the daemon in. */
  readonly startFolder: string;
  /** Set by SALLYPORT_WORKSPACE. Absent: the start folder, where that is safe. */
  readonly workspace?: string;
  /** The group whose users may connect to the agent socket. Absent: only the user of the daemon may. */
  readonly agentGroup?: string;
  /** The command line that runs this: it judges the log in a process of its own. */
  readonly program: string;
  /** The folder of the program itself. No tool can reach it. */
  readonly programFolder: string;
  /** The operator's rules when there are any, the shipped ones otherwise. Looked up anew each time it is read. */
  readonly rulesFolder: string;
  /** Where the operator puts tools: programs in `bin`, and YAML files. */
  readonly toolsFolder: string;
  /** Where the built console may be: in the installed package, or in a checkout. */
  readonly consoleFolders: readonly string[];
  /** What variables say about traces: those of OpenTelemetry, SALLYPORT_TRACE_HOSTS, and TRACEPARENT for commands. */
  readonly environment: Environment;
}

const ofTelemetry = /^(?:OTEL_|SALLYPORT_TRACE_|TRACE(?:PARENT|STATE)$)/;

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(environment: Environment = process.env, program = process.argv[1] ?? ''): Config {
  const userHome = findUserHome(environment);
  const sockets = environment['SALLYPORT_SOCKETS'];
  const agentGroup = environment['SALLYPORT_AGENT_GROUP'];
  const home = describeHome(
    resolve(environment['SALLYPORT_HOME'] || join(userHome, '.sallyport')),
    sockets ? resolve(sockets) : undefined,
  );
  const programFolder = findProgramFolder();
  const workspace = environment['SALLYPORT_WORKSPACE'];
  return {
    home,
    port: parsePort(environment['SALLYPORT_PORT']),
    userHome,
    // npm runs scripts in the package folder and says in INIT_CWD where the person was.
    startFolder: resolve(environment['INIT_CWD'] || process.cwd()),
    ...(workspace ? { workspace: resolve(workspace) } : {}),
    ...(agentGroup ? { agentGroup } : {}),
    program,
    programFolder,
    environment: Object.fromEntries(
      Object.entries(environment).filter(([name, value]) => value && ofTelemetry.test(name)),
    ),
    toolsFolder: movedToolsFolder(environment) ?? home.toolsFolder,
    consoleFolders: [join(programFolder, 'console'), join(programFolder, 'packages', 'console', 'dist')],
    get rulesFolder() {
      return isAbsent(home.rulesFolder) ? join(programFolder, 'config', 'governance') : home.rulesFolder;
    },
  };
}

/** A user without an entry in /etc/passwd has a home only where HOME names one. */
function findUserHome(environment: Environment): string {
  try {
    return homedir();
  } catch {
    if (environment['SALLYPORT_HOME']) return resolve(environment['SALLYPORT_HOME'], '..');
    throw new ConfigError('This user has no home folder.', 'Set HOME, or name a folder with SALLYPORT_HOME.');
  }
}

/** A link to nowhere or a folder that cannot be read is there: the shipped rules must not quietly replace it. */
function isAbsent(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) === undefined) ?? false;
}

function parsePort(text: string | undefined): number {
  if (text === undefined || text === '') return defaultPort;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ConfigError(
    `SALLYPORT_PORT is not a port: ${text}`,
    'Use a number from 1 to 65535, or 0 for any free port.',
  );
}

/** The checkout, or the installed package: the nearest folder above that holds the shipped rules. */
function findProgramFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'config', 'governance'))) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new ConfigError('The shipped rules (config/governance) are missing.', 'Install again.');
    folder = parent;
  }
  return folder;
}
