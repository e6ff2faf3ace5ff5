import { hash } from 'node:crypto';
import { ToolFailure } from '../../call/tool.ts';
import type { Effect, ToolContext } from '../../call/tool.ts';
import { changedMeanwhile, checkShown } from '../../call/check-shown.ts';
import type { GitTargets } from './git-operation.ts';
import { GitFailed } from './git-sandbox.ts';
import type { GitSandbox } from './git-sandbox.ts';
import { plainDiff } from './reading-operations.ts';

/** What an operation works on, for the person who decides. */
export interface ShownChanges {
  /** One fact a line. */
  readonly lines: readonly string[];
  /** Empty: nothing is changed that could be shown as a patch. */
  readonly patch: string;
  /** As in `Effect`. */
  readonly unshown?: NonNullable<Effect['unshown']>;
  /** Another one means that the repository has changed since. */
  readonly basis: string;
  /** Whether the journal will hold what it takes to undo it. Absent: it will not. */
  readonly undoable?: boolean;
}

/** What messages call it. */
export const shownSubject = 'The repository';

/** Works out once more what was shown, before it runs. Throws ToolRefused when it is something else now. */
export async function showAgain<Shown extends ShownChanges | undefined>(
  show: () => Promise<Shown>,
  context: ToolContext,
): Promise<Shown> {
  try {
    const shown = await show();
    checkShown(shown?.basis ?? '', shownSubject, context);
    return shown;
  } catch (error) {
    // It could be shown before.
    if (error instanceof GitFailed || error instanceof ToolFailure) throw changedMeanwhile(shownSubject, context);
    throw error;
  }
}

export function digest(...parts: readonly string[]): string {
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''));
}

/**
 * The same patch for the same content: with whole hashes, and without anything that the repository configures. Every file
 * counts as text: an attribute, or one NUL, would hide what changes in it.
 */
export const patchOptions = [
  ...['-p', '--text', '--full-index', '--no-renames', '--no-color', '--src-prefix=a/', '--dst-prefix=b/'],
];

/** Where the present branch stands, what is staged, which files are changed, and what the names in the arguments mean. */
export async function showState({ revisions, options }: GitTargets, git: GitSandbox): Promise<ShownChanges> {
  const status = await git.text(['status', '--porcelain=v2', '-z', '--branch', '--untracked-files=no', ...plainStatus]);
  const named = [...revisions, ...options.flatMap(({ value }) => value ?? [])].filter((name) => !/\s/.test(name));
  const meant = named.length === 0 ? '' : await readMeanings(named, git);
  return {
    lines: [`at: ${headOf(status)}`, 'What changed files contain when it runs is not bound.'],
    patch: '',
    basis: digest(git.repository.gitFolder, status, meant),
  };
}

const plainStatus = ['--no-renames', '--ignore-submodules=dirty', '--no-ahead-behind'];

function readMeanings(names: readonly string[], git: GitSandbox): Promise<string> {
  const stdin = names.map((name) => `${name}\n`).join('');
  return git.text(['cat-file', '--batch-check=%(objectname)', '--buffer'], { stdin });
}

function headOf(status: string): string {
  const [id = '', branch = ''] = ['# branch.oid ', '# branch.head '].map((start) =>
    status
      .split('\0')
      .find((line) => line.startsWith(start))
      ?.slice(start.length),
  );
  return `${id} (${branch})`;
}

/** What is different from a commit: in the index, or in the files. `paths` are those of the caller. */
export function readPatch(
  git: GitSandbox,
  base: string,
  { cached, paths }: { readonly cached: boolean; readonly paths: readonly string[] },
): Promise<string> {
  const which = cached ? ['--cached'] : [];
  return git.text(['diff', ...patchOptions, ...plainDiff, ...which, base, '--', ...paths]);
}
