import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { openSigner } from '@sallyport/log';
import { ConfigError } from '../../call/fault.ts';
import { copyDatabase } from '../../storage/sqlite/copy-database.ts';
import type { Home } from '../home/home.ts';
import { isAlive, readHolder } from '../home/lock.ts';
import { version } from '../version.ts';

const run = promisify(execFile);
const noteName = 'backup.json';
/** Everything else in the home is made again, or is not the gate's: its cache, its sockets, its log, the workspace. */
const keptFolders = ['keys', 'credentials', 'governance', 'tools', 'content', 'trash', 'audit/archive'];
const restoredNote = (home: Home): string => join(home.folder, 'audit', 'restored.json');

/** What a backup says about itself. */
export interface BackupNote {
  readonly version: string;
  readonly madeAtMs: number;
  /** The name of its log, which the key of the log carries. */
  readonly origin: string;
  readonly records: number;
}

/**
 * Writes the state of a gate into one file, which holds its keys and is readable by its owner only. The gate may be
 * running: the database is copied as of one moment. What only grows is copied before it or after it, whichever way a
 * start accepts: a checkpoint that is older than the log, rules that are newer. Throws ConfigError.
 */
export async function backUpHome(home: Home, file: string): Promise<BackupNote> {
  if (!existsSync(home.databaseFile)) throw new ConfigError(`There is no gate in ${home.folder} to back up.`);
  const target = resolve(file);
  if (existsSync(target)) throw new ConfigError(`${target} already exists.`, 'Choose another name.');
  const draft = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
  try {
    const stage = join(draft, 'home');
    mkdirSync(join(stage, 'audit'), { recursive: true });
    copyIfPresent(home.checkpointFile, join(stage, 'audit', basename(home.checkpointFile)));
    const records = await copyDatabase(home.databaseFile, join(stage, basename(home.databaseFile)));
    for (const name of readdirSync(dirname(home.appliedRulesFile))) {
      if (name.startsWith(basename(home.appliedRulesFile)))
        copyIfPresent(join(home.folder, 'audit', name), join(stage, 'audit', name));
    }
    const { name: origin } = openSigner(readFileSync(home.signingKeyFile, 'utf8').trim());
    const note = { version, madeAtMs: Date.now(), origin, records };
    writeFileSync(join(stage, noteName), JSON.stringify(note));
    const folders = keptFolders.filter((name) => existsSync(join(home.folder, name)));
    const archive = join(draft, 'archive');
    writeFileSync(archive, '', { mode: 0o600 });
    await pack(archive, ['-C', stage, '.', '-C', home.folder, ...folders]);
    renameSync(archive, target);
    return note;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Makes a home of a backup. The daemon that starts in it next ends all sessions, because some may have been revoked after
 * the backup was made, and puts on record that it was restored. Throws ConfigError, and then nothing has changed.
 */
export async function restoreHome(home: Home, file: string): Promise<BackupNote> {
  const holder = readHolder(home.lockFile);
  if (holder !== undefined && isAlive(holder))
    throw new ConfigError(`A daemon is running in ${home.folder}.`, 'Stop it first.');
  if (existsSync(home.folder) && readdirSync(home.folder).length > 0) {
    throw new ConfigError(`${home.folder} is not empty.`, 'Move it away, or choose another SALLYPORT_HOME.');
  }
  mkdirSync(dirname(home.folder), { recursive: true });
  const draft = mkdtempSync(join(dirname(home.folder), '.sallyport-restore-'));
  try {
    await run('tar', ['-xzf', resolve(file), '--no-same-owner', '-C', draft]).catch((error: unknown) => {
      throw new ConfigError(`${file} cannot be read: ${(error as { stderr?: string }).stderr?.trim() ?? ''}`);
    });
    const note = readNote(draft, file);
    rmSync(join(draft, noteName));
    writeFileSync(join(draft, 'audit', basename(restoredNote(home))), JSON.stringify(note), { mode: 0o600 });
    chmodSync(draft, 0o700);
    // Fails when somebody put something there meanwhile.
    renameSync(draft, home.folder);
    return note;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** What a restore left for the first start after it. `done` forgets it. */
export function readRestored(home: Home): { readonly note: BackupNote; readonly done: () => void } | undefined {
  const file = restoredNote(home);
  if (!existsSync(file)) return undefined;
  return { note: JSON.parse(readFileSync(file, 'utf8')) as BackupNote, done: () => rmSync(file) };
}

function readNote(folder: string, file: string): BackupNote {
  try {
    return JSON.parse(readFileSync(join(folder, noteName), 'utf8')) as BackupNote;
  } catch {
    throw new ConfigError(`${file} is not a backup of a gate.`);
  }
}

function copyIfPresent(source: string, target: string): void {
  if (statSync(source, { throwIfNoEntry: false })?.isFile() === true) copyFileSync(source, target);
}

/** Files that come and go while it reads are no fault: what the database names is there, and stays. */
async function pack(archive: string, args: readonly string[]): Promise<void> {
  const changed = 1;
  try {
    await run('tar', ['-czf', archive, ...args]);
  } catch (error) {
    if ((error as { code?: unknown }).code !== changed) throw error;
  }
}
