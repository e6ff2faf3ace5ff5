import { lchownSync, lstatSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { hasCode } from '@sallyport/sandbox';
import { openFolder } from '../../paths/open-path.ts';
import type { OpenFolder } from '../../paths/open-path.ts';
import { parsePath } from '../../paths/parse-path.ts';
import type { NamedPath } from '../../paths/parse-path.ts';
import { checkShown } from '../../call/check-shown.ts';
import { identifyFolder } from '../files/tree/identify-entries.ts';
import { presentOutput, presentWithheld } from '../shell/present-output.ts';
import type { PresentedOutput } from '../shell/present-output.ts';
import { refuseArguments, writeOptions } from './git-arguments.ts';
import type { GitArguments } from './git-arguments.ts';
import type { GitOperation } from './git-operation.ts';
import { GitSandbox } from './git-sandbox.ts';
import { judgeChange } from './judge-entries.ts';
import { reachAddress } from './resolve-remote.ts';
import { serveOtherSide, succeeded } from './run-operation.ts';
import type { ShownChanges } from './shown-changes.ts';

/** Where a clone goes: the folder that was named, or one called like the repository. */
export function cloneTarget({ before: [address = '', folder] }: GitArguments, workingDirectory: string): NamedPath {
  const name = folder ?? basename(address.replace(/\/+$/, ''), '.git');
  if (name === '' || name === '.' || name.includes(':'))
    throw refuseArguments('git clone needs a folder to clone into.');
  return parsePath(name, workingDirectory);
}

/**
 * Clones into a folder that the gate makes, so that git sees no other. Files that the rules do not let this call create
 * are left out of the checkout and counted; git remembers that they are not wanted here.
 */
export async function cloneRepository(
  operation: GitOperation,
  args: GitArguments,
  context: ToolContext,
): Promise<PresentedOutput> {
  const [address = ''] = args.before;
  const target = cloneTarget(args, context.workingDirectory);
  const reach = reachAddress(address, 'fetch', context.workingDirectory, context);
  // The sweep of a server would take the new repository for one that the server made.
  using _ = await context.sweeps.clear([findPlace(target, context)], context.signal);
  const top = makeFolder(target, context);
  const gitFolder = join(top, '.git');
  const repository = { top, gitFolder, commonFolder: gitFolder };
  const git = GitSandbox.forClone(repository, context);
  const source = reach.folders[0]?.path ?? address;
  const how = [...operation.fixed, serveOtherSide('fetch'), ...writeOptions(args.options)];
  const cloned = await git.run(['clone', ...how, '--', source, '.'], { reach });
  if (!succeeded(cloned)) {
    removeIfEmpty(top);
    return presentOutput(cloned);
  }
  const made = await GitSandbox.open(repository, context, { workingDirectory: top, access: 'write' });
  const { value: omitted, withheld } = await made.attend(() => checkOut(made, context));
  const output = { ...presentOutput(cloned), ...presentWithheld(withheld) };
  return omitted === 0 ? output : { ...output, omitted };
}

/** Asks every gate that the clone would meet before its effect. Throws ToolRefused, or what else prevents it. */
export function showClone(_operation: GitOperation, args: GitArguments, context: ToolContext): Promise<ShownChanges> {
  reachAddress(args.before[0] ?? '', 'fetch', context.workingDirectory, context);
  const target = cloneTarget(args, context.workingDirectory);
  using folder = openParent(target, context);
  judgeNew(folder, target, context);
  const entry = folder.entry(basename(target.path));
  if (lstatSync(entry, { throwIfNoEntry: false }) !== undefined) throw alreadyThere(target);
  const lines = ['What the remote sends is not known beforehand.'];
  return Promise.resolve({ lines, patch: '', basis: identifyFolder(folder) });
}

async function checkOut(git: GitSandbox, context: ToolContext): Promise<number> {
  const isEmpty = !succeeded(await git.run(['rev-parse', '--verify', '--quiet', 'HEAD']));
  if (isEmpty) return 0;
  await git.list(['read-tree', 'HEAD']);
  const files = await git.list(['ls-files', '-z']);
  const unwanted = files.filter(
    (file) => judgeChange(join(git.repository.top, file), git.repository.top, context) !== undefined,
  );
  const stdin = unwanted.map((file) => `${file}\0`).join('');
  if (stdin !== '') await git.list(['update-index', '-z', '--skip-worktree', '--stdin'], { stdin });
  await git.list(['checkout-index', '--all', '--quiet', '--index']);
  return unwanted.length;
}

function findPlace(target: NamedPath, context: ToolContext): string {
  using folder = openParent(target, context);
  return judgeNew(folder, target, context);
}

function makeFolder(target: NamedPath, context: ToolContext): string {
  using folder = openParent(target, context);
  checkShown(identifyFolder(folder), target.given, context);
  const top = judgeNew(folder, target, context);
  const name = basename(target.path);
  try {
    mkdirSync(folder.entry(name), { mode: 0o755 });
    // Programs of a daemon that runs as root do not; they run as the owner of what they may change.
    const { uid, gid } = statSync(folder.path);
    if (process.getuid?.() === 0) lchownSync(folder.entry(name), uid, gid);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw alreadyThere(target);
    if (hasCode(error, 'EACCES', 'EROFS', 'EPERM')) {
      throw new ToolRefused(refuse('UNSAFE_PATH', 'git-clone', `${target.given} cannot be created by the gate.`));
    }
    throw error;
  }
  return top;
}

function alreadyThere({ given }: NamedPath): ToolFailure {
  return new ToolFailure('ALREADY_EXISTS', `${given} exists already.`);
}

function openParent({ given, path }: NamedPath, context: ToolContext): OpenFolder {
  return openFolder({ given, path: dirname(path) }, context);
}

/** The real path of the folder that is to be made. Throws ToolRefused. */
function judgeNew(folder: OpenFolder, { path }: NamedPath, { paths }: ToolContext): string {
  const top = folder.realPathOf(basename(path));
  const refusal = paths.judge(top, 'write');
  if (refusal !== undefined) throw new ToolRefused(refusal);
  return top;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'ENOENT')) throw error;
  }
}
