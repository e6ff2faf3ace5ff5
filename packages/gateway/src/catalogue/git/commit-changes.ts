import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { changedMeanwhile } from '../../call/check-shown.ts';
import { presentOutput } from '../shell/present-output.ts';
import type { PresentedOutput } from '../shell/present-output.ts';
import { hasOption } from './git-arguments.ts';
import type { GitTargets } from './git-operation.ts';
import { GitFailed } from './git-sandbox.ts';
import type { GitSandbox } from './git-sandbox.ts';
import { plainDiff } from './reading-operations.ts';
import { digest, patchOptions, readPatch, showAgain, shownSubject } from './shown-changes.ts';
import type { ShownChanges } from './shown-changes.ts';

/** What would be committed, and on top of what. */
interface Commit extends ShownChanges {
  /** The commit on which it builds, or which it replaces; the empty tree when there is no commit yet. */
  readonly base: string;
  readonly isFirst: boolean;
  readonly parents: readonly string[];
}

/** What a commit would record. Throws ToolFailure when there is nothing. */
export async function showCommit(targets: GitTargets, message: string, git: GitSandbox): Promise<Commit> {
  const { options, paths } = targets;
  const amends = hasOption(options, '--amend');
  const [head, ...formerParents] = await readParents(git);
  const base = head ?? (await git.text(['hash-object', '-t', 'tree', '--stdin'])).trim();
  const merged = await readMerged(git);
  const parents = amends ? formerParents : [...(head === undefined ? [] : [head]), ...merged];
  const patch = await readChanges(targets, base, git);
  if (patch === '' && !amends && merged.length === 0 && !hasOption(options, '--allow-empty')) {
    const how = paths.length > 0 ? 'in these files' : 'staged; stage files with git.add';
    throw new ToolFailure('EXECUTION_ERROR', `There is nothing to commit: no change is ${how}.`);
  }
  return {
    ...{ base, isFirst: head === undefined, parents, patch },
    basis: digest(git.repository.gitFolder, base, parents.join(' '), String(amends), message, patch),
    lines: [
      head === undefined ? 'the first commit' : `${amends ? 'replaces' : 'on top of'}: ${head}`,
      ...merged.map((id) => `merges: ${id}`),
      ...(message === '' ? [] : ['message:', ...message.split('\n').map((line) => `  | ${line}`)]),
      'commits:',
    ],
  };
}

/**
 * Commits. After a consent, what was committed is compared with what was shown, and taken back if it is something else:
 * git reads index and files itself, and another program may have changed them just then.
 */
export async function runCommit(
  targets: GitTargets,
  message: string,
  commit: () => ReturnType<GitSandbox['run']>,
  git: GitSandbox,
  context: ToolContext,
): Promise<PresentedOutput> {
  if (context.shownBasis === undefined || hasOption(targets.options, '--dry-run')) return presentOutput(await commit());
  const shown = await showAgain(() => showCommit(targets, message, git), context);
  const output = await commit();
  const [made, ...parents] = await readParents(git);
  if (made === undefined || made === shown.base) return presentOutput(output);
  const committed = await readCommitted(targets, shown.base, made, git);
  if (committed === shown.patch && parents.join(' ') === shown.parents.join(' ')) return presentOutput(output);
  await takeBack(made, shown, git);
  throw changedMeanwhile(shownSubject, context, ' The commit was taken back; what it held is still staged.');
}

/** Only if nobody built on it in the meantime. */
async function takeBack(made: string, { base, isFirst }: Commit, git: GitSandbox): Promise<void> {
  const former = isFirst ? ['-d', 'HEAD', made] : ['HEAD', base, made];
  await git.text(['update-ref', '-m', 'commit: taken back, because it was not what was approved', ...former]);
}

/** The commit that HEAD means, then its parents. Empty: there is no commit yet. */
async function readParents(git: GitSandbox): Promise<readonly string[]> {
  const line = await readIfThere(['rev-list', '--parents', '--max-count=1', 'HEAD', '--'], git);
  return line === '' ? [] : line.split(' ');
}

/** The commits that a merge in progress brings in. */
async function readMerged(git: GitSandbox): Promise<readonly string[]> {
  const line = await readIfThere(['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'], git);
  return line === '' ? [] : [line];
}

async function readIfThere(args: readonly string[], git: GitSandbox): Promise<string> {
  try {
    return (await git.text(args)).trim();
  } catch (error) {
    if (error instanceof GitFailed) return '';
    throw error;
  }
}

/** Named paths are committed alone, as they are now; with --include, together with what is staged elsewhere. */
async function readChanges({ options, paths }: GitTargets, base: string, git: GitSandbox): Promise<string> {
  if (hasOption(options, '-a', '--all')) return readPatch(git, base, { cached: false, paths: [] });
  if (paths.length === 0) return readPatch(git, base, { cached: true, paths: [] });
  const named = await readPatch(git, base, { cached: false, paths });
  if (!hasOption(options, '-i', '--include')) return named;
  return (await readPatch(git, base, { cached: true, paths: exceptFor(paths) })) + named;
}

/** The same of a commit, in the same order. */
async function readCommitted(
  { options, paths }: GitTargets,
  base: string,
  made: string,
  git: GitSandbox,
): Promise<string> {
  const read = (which: readonly string[]) =>
    git.text(['diff', ...patchOptions, ...plainDiff, base, made, '--', ...which]);
  if (paths.length === 0 || !hasOption(options, '-i', '--include')) return read([]);
  return (await read(exceptFor(paths))) + (await read(paths));
}

function exceptFor(paths: readonly string[]): readonly string[] {
  return [':(top)', ...paths.map((path) => `:(exclude)${path}`)];
}
