import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '@sallyport/sandbox';
import { ToolFailure, ToolRefused } from '../../../call/tool.ts';
import type { ToolContext } from '../../../call/tool.ts';
import { openTarget } from '../../../paths/open-to-change.ts';
import type { Target } from '../../../paths/open-to-change.ts';
import { openFormer } from '../../files/former-file.ts';
import type { Repository } from '../find-repository.ts';
import { GitFailed, TooMuchToLookAt } from '../git-sandbox.ts';
import type { GitSandbox } from '../git-sandbox.ts';

/**
 * What operations of git change besides files, by name. `HEAD` and what starts with `refs/`: an object, or `ref: ` and
 * another name. `index`: a hash of what is staged. Other names are small files of git: a hash of their content.
 */
export type RepositoryState = Readonly<Record<string, string>>;

export interface RepositorySnapshot {
  readonly state: RepositoryState;
  /** Absent: nothing was ever staged, or the operation does not stage anything. */
  readonly index?: Buffer;
  readonly files: ReadonlyMap<string, Buffer>;
  /** The objects of all files that are staged. Empty where the operation does not stage anything. */
  readonly staged: readonly string[];
}

/** Why a repository, or the files of an operation, cannot be kept for an undo, in words for everyone. */
export class NotKept extends Error {}

/** Operations in progress. What only remembers the last one, such as ORIG_HEAD, is neither compared nor put back. */
const ownFiles = [
  ...['MERGE_HEAD', 'MERGE_MSG', 'MERGE_MODE', 'AUTO_MERGE', 'SQUASH_MSG'],
  ...['CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD', 'BISECT_LOG'],
];
const ownFolders = ['rebase-merge', 'rebase-apply', 'sequencer'];
/** Of all worktrees. Stashes but the last one are in the log of their reference alone. */
const sharedFiles = ['shallow', 'logs/refs/stash'];

const mostFileBytes = 1024 * 1024;
const mostFiles = 500;
const mostIndexBytes = 64 * 1024 * 1024;

export const objectId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const headValue = /^(?:ref: refs\/[^\s\p{Cc}]+|[0-9a-f]{40}(?:[0-9a-f]{24})?)$/u;

export interface StateOptions {
  /** Operations that stage nothing need not look at what is staged. */
  readonly hasIndex: boolean;
}

/** Reads all of it. Runs nothing that the repository brings along. Throws NotKept. */
export async function readRepository(
  git: GitSandbox,
  { hasIndex }: StateOptions,
  context: ToolContext,
): Promise<RepositorySnapshot> {
  const { repository } = git;
  if (existsSync(join(repository.commonFolder, 'reftable')))
    throw new NotKept('its references are kept in a form that the gate does not know');
  if (readdirSync(repository.gitFolder).some((name) => name.startsWith('sharedindex.')))
    throw new NotKept('its index is kept in parts, which git removes by itself');
  const [refs, listing] = await Promise.all([readReferences(git), hasIndex ? listStaged(git) : undefined]);
  const index = hasIndex ? await readOwnFile('index', repository, context, mostIndexBytes) : undefined;
  const files = await readFiles(repository, context);
  const head = (await readOwnFile('HEAD', repository, context))?.toString('utf8').trim() ?? '';
  if (!headValue.test(head)) throw new NotKept('its HEAD is not as git writes it');
  return {
    state: {
      HEAD: head,
      ...refs,
      ...(listing === undefined || index === undefined ? {} : { index: hash('sha256', listing) }),
      ...Object.fromEntries([...files].map(([name, bytes]) => [name, hash('sha256', bytes)])),
    },
    ...(index && { index }),
    files,
    staged: listing === undefined ? [] : entriesOf(listing).map(({ id }) => id),
  };
}

async function readReferences(git: GitSandbox): Promise<RepositoryState> {
  const lines = await look(() =>
    git.list(['for-each-ref', '--format=%(refname) %(objectname) %(symref)'], { separator: '\n' }),
  );
  const refs = lines.map((line): [string, string] => {
    const [name = '', id = '', leadsTo = ''] = line.split(' ');
    if (name.includes('\uFFFD')) throw new NotKept('the name of a reference is not text');
    return [name, leadsTo === '' ? id : `ref: ${leadsTo}`];
  });
  return Object.fromEntries(refs);
}

function listStaged(git: GitSandbox): Promise<string> {
  return look(() => git.text(['ls-files', '--stage', '-v', '-z', '--full-name']));
}

/** Objects that are staged and not in the present commit: nothing else may lead to them. */
export async function readStagedOnly(git: GitSandbox, { staged }: RepositorySnapshot): Promise<readonly string[]> {
  try {
    const changed = await git.list(['diff-index', '--cached', '--raw', '--no-abbrev', '--no-renames', '-z', 'HEAD']);
    return onlyObjects(changed.flatMap((each) => (each.startsWith(':') ? (each.split(' ')[3] ?? []) : [])));
  } catch (error) {
    // There is no commit yet.
    if (error instanceof GitFailed) return staged;
    throw error;
  }
}

/** What `ls-files --stage -v` says of each: how git sees it, mode, object, stage, path. */
function entriesOf(listing: string): readonly { readonly id: string }[] {
  return listing
    .split('\0')
    .filter(Boolean)
    .map((entry) => entry.slice(0, entry.indexOf('\t')).split(' '))
    .map(([, , id = '']) => ({ id }));
}

/** Its value is an object or another reference; that of any other name is a hash. */
export function isReference(name: string): boolean {
  return name === 'HEAD' || name.startsWith('refs/');
}

/** Git writes zeros for what is not there. */
export function onlyObjects(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)].filter((id) => objectId.test(id) && !/^0+$/.test(id));
}

async function look<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TooMuchToLookAt) throw new NotKept('it is too large to be looked at as a whole');
    if (error instanceof GitFailed) throw new NotKept('git cannot tell what is in it');
    throw error;
  }
}

async function readFiles(repository: Repository, context: ToolContext): Promise<ReadonlyMap<string, Buffer>> {
  const inFolders = ownFolders.flatMap((folder) => listFolder(repository, folder));
  const names = [...ownFiles, ...inFolders, ...sharedFiles];
  if (names.length > mostFiles) throw new NotKept('an operation in progress has too many files');
  const files = new Map<string, Buffer>();
  for (const name of names) {
    const bytes = await readOwnFile(name, repository, context);
    if (bytes !== undefined) files.set(name, bytes);
  }
  return files;
}

function listFolder({ gitFolder }: Repository, folder: string): readonly string[] {
  try {
    return readdirSync(join(gitFolder, folder), { withFileTypes: true }).map((entry) => {
      if (!entry.isFile()) throw new NotKept('an operation in progress has more than files');
      return `${folder}/${entry.name}`;
    });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** A file of git's own, to be read or changed: through no link. The rules were asked about its folder. */
export function openOwnFile(
  name: string,
  { gitFolder, commonFolder }: Repository,
  { makesFolder }: { readonly makesFolder: boolean } = { makesFolder: false },
): Target {
  const folder = sharedFiles.includes(name) ? commonFolder : gitFolder;
  const reach = { paths: { judge: () => undefined }, workingDirectory: folder };
  return openTarget({ given: name, path: join(folder, name) }, reach, makesFolder ? () => undefined : undefined);
}

async function readOwnFile(
  name: string,
  repository: Repository,
  { signal }: Pick<ToolContext, 'signal'>,
  mostBytes = mostFileBytes,
): Promise<Buffer | undefined> {
  try {
    using target = openOwnFile(name, repository);
    using file = openFormer(target);
    if (file !== undefined && file.size > mostBytes) throw new NotKept(`${name} of the repository is too large`);
    return await file?.read(signal);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (error instanceof ToolRefused || error instanceof ToolFailure || hasCode(error, 'EACCES', 'EROFS'))
      throw new NotKept(`${name} of the repository is not a file that the gate can put back`);
    throw error;
  }
}
