import { existsSync, lstatSync, readdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installCommand } from '@sallyport/sandbox';
import { spellBytes, spellCount } from '@sallyport/contract';
import { readNotificationSettings } from '../../approvals/notifications/notification-settings.ts';
import { ConfigError } from '../../call/fault.ts';
import { readDatabases } from '../../catalogue/data/read-databases.ts';
import type { Check } from '../../catalogue/self/check.ts';
import { loadRules } from '../../policy/language/load-rules.ts';
import { joinWords } from '../../policy/patterns/shell-words.ts';
import type { Config } from '../config.ts';
import type { Home } from '../home/home.ts';
import { readInstallKind } from './install-kind.ts';
import type { InstallKind } from './install-kind.ts';

const oldestNode = 26;
const mebibyte = 1024 * 1024;
/** Below it the daemon refuses calls that change something. */
const fewestBytes = 64 * mebibyte;
const comfortableBytes = 1024 * mebibyte;

export function checkNode(version: string): Check {
  if (Number.parseInt(version, 10) >= oldestNode) return { name: 'node', state: 'ok', message: `Node ${version}` };
  const message = `Node ${version} is too old: ${oldestNode} is the oldest that works.`;
  return { name: 'node', state: 'fail', message, remedy: 'Install a newer Node, or run `npm start` in a checkout.' };
}

/** Programs of the system that parts of the gate start. `exists` is for tests. */
export function checkPrograms(exists: (file: string) => boolean = existsSync): readonly Check[] {
  if (process.platform !== 'linux') return [];
  const needs: readonly (readonly [file: string, packageName: string, state: Check['state'], what: string])[] = [
    ['/usr/bin/prlimit', 'util-linux', 'fail', 'No program can be run: its files and sizes could not be limited.'],
    ['/usr/bin/perl', 'perl', 'warn', 'Programs cannot be given any host of the network.'],
    ['/usr/bin/git', 'git', 'warn', 'The git tools do not work.'],
  ];
  return needs
    .filter(([file]) => !exists(file))
    .map(([file, packageName, state, what]) => ({
      name: packageName,
      state,
      message: `${file} is missing. ${what}`,
      remedy: installCommand().replace('bubblewrap', packageName),
    }));
}

/** Whether only its owner can read and change the files in the home. */
export function checkHome(home: Home): Check {
  const { folder } = home;
  const check = (state: Check['state'], message: string, remedy?: string): Check => ({
    name: 'home',
    state,
    message,
    ...(remedy === undefined ? {} : { remedy }),
  });
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return check('ok', `${folder} is made by the first start.`);
    if (!stats.isDirectory()) return check('fail', `${folder} is not a folder.`, `rm ${joinWords([folder])}`);
    const own = process.getuid?.();
    if (own !== undefined && stats.uid !== own) {
      return check('fail', `${folder} belongs to another user (uid ${stats.uid}).`, 'Run this as that user.');
    }
    const open = findOpen(home);
    if (open !== undefined) {
      return check('fail', `Other users can get at ${open}.`, `chmod -R go-rwx ${joinWords([open])}`);
    }
    return check('ok', `${folder}, closed to other users`);
  } catch (error) {
    return check('fail', `${folder} cannot be read: ${describeSystemError(error)}`);
  }
}

/** Files that others can read or change although they must not. The home itself may be passed through, but not listed. */
function findOpen({
  folder,
  signingKeyFile,
  operatorCredentialFile,
  databaseFile,
  operatorSocket,
}: Home): string | undefined {
  const closed = [signingKeyFile, operatorCredentialFile, operatorSocket].map((file) => dirname(file));
  const secrets = closed.slice(0, 2).flatMap((place) => (existsSync(place) ? list(place) : []));
  const isOpen = (path: string, mask: number): boolean =>
    ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & mask) !== 0;
  if (isOpen(folder, 0o066)) return folder;
  return [...closed, ...secrets, databaseFile].find((path) => isOpen(path, 0o077));
}

function list(folder: string): readonly string[] {
  return readdirSync(folder).map((name) => join(folder, name));
}

/** `freeBytes` is for tests. */
export function checkSpace(folder: string, freeBytes: (folder: string) => number = readFree): Check {
  const free = freeBytes(nearestFolder(folder));
  const message = `${spellBytes(free)} free for ${folder}`;
  if (free >= comfortableBytes) return { name: 'disk', state: 'ok', message };
  const isTooLittle = free < fewestBytes;
  return {
    name: 'disk',
    state: isTooLittle ? 'fail' : 'warn',
    message: isTooLittle ? `${message}: calls that change something are refused.` : message,
    remedy: 'Free some space on that disk, or choose another folder with SALLYPORT_HOME.',
  };
}

function readFree(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function nearestFolder(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearestFolder(dirname(folder));
}

/** `workspace`: of the running daemon. Absent: what was set, or a folder that no rule can be wrong about. */
export function checkRules(config: Config, workspace?: string): Check {
  const { home, userHome, programFolder, rulesFolder } = config;
  const folders = { home: home.folder, userHome, programFolder, folder: rulesFolder };
  try {
    const rules = loadRules({ ...folders, workspace: workspace ?? config.workspace ?? home.workspaceFolder });
    rules.refuseShutOut();
    const { count } = rules;
    return { name: 'rules', state: 'ok', message: `${spellCount(count, 'rule')} in ${rulesFolder}` };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { message, remedy } = error;
    return { name: 'rules', state: 'fail', message, ...(remedy === undefined ? {} : { remedy }) };
  }
}

/** A file that cannot be used stops no start, and nobody is told that something waits for them. */
export function checkNotifications({ rulesFolder }: Pick<Config, 'rulesFolder'>): readonly Check[] {
  return checkFile('notifications', () => readNotificationSettings(rulesFolder));
}

/** Until the file is right, agents reach no database. */
export function checkDatabases({ home }: Pick<Config, 'home'>): readonly Check[] {
  return checkFile('databases', () => readDatabases(home.databasesFile));
}

function checkFile(name: string, read: () => unknown): readonly Check[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      { name, state: 'fail', message: error.message, remedy: 'Correct the file; the change takes effect at once.' },
    ];
  }
}

export function checkInstall({ kind, meaning }: InstallKind = readInstallKind()): Check {
  return { name: 'install', state: kind === 'separated' ? 'ok' : 'warn', message: `${kind}: ${meaning}` };
}

function describeSystemError(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^E[A-Z]+: /, '') : String(error);
}
