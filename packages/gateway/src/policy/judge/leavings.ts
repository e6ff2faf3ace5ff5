import { refuse } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { LeavingsJudge, SweepCaller } from '../../call/sweep.ts';
import type { PathJudge } from '../../call/tool.ts';
import { foldPath } from '../patterns/canonical-path.ts';
import { isWithin } from '@sallyport/sandbox';

/** Version control runs hooks and monitors from these, so a new one is never for a program to make. */
const repositories = ['.git', '.hg', '.jj', '.sl'];

/**
 * What editors, shells, debuggers and interpreters run when a person opens, enters or starts them in the folder around
 * it, and what hooks of git and of agent clients run. In lower case.
 */
export const selfRunningNames: readonly string[] = [
  ...['.vscode', '.idea', '.devcontainer', '.devcontainer.json', '.vs', '.fleet', '.zed', '.helix'],
  ...['.envrc', '.autoenv', '.autoenv.zsh', '.mise', '.mise.toml', 'mise.toml', '.mise.local.toml', 'mise.local.toml'],
  ...['.husky', '.githooks', '.gitconfig', '.pre-commit-config.yaml', 'lefthook.yml', '.lefthook.yml'],
  ...['lefthook-local.yml', '.lefthook-local.yml', '.github/hooks'],
  ...['.exrc', '.vimrc', '.gvimrc', '.nvimrc', '.nvim.lua', '.lazy.lua', '.dir-locals.el', '.dir-locals-2.el'],
  ...['.gdbinit', '.lldbinit', '.rprofile', '.irbrc', '.pryrc', '.ghci', '.iex.exs', '.ocamlinit'],
];

/** Stands for any file: no rule is about this name. */
const plainName = 'a-file-like-any-other';

export interface LeavingsParts {
  /** What the caller may write with the file tools, without anybody being asked. */
  readonly write: PathJudge;
  readonly caller: SweepCaller;
}

/**
 * What the file tools may not write, a program may not leave behind. Rules that close, or ask about, the whole folder
 * which a program may change say nothing about its programs; those count that single out a path in it.
 */
export function judgeLeavings({ write, caller }: LeavingsParts): LeavingsJudge {
  const ranks = new Map<string, number>();
  const rankOf = (root: string): number => {
    const known = ranks.get(root);
    if (known !== undefined) return known;
    const rank = rankRefusal(write.judge(`${root}/${plainName}`, 'write'));
    ranks.set(root, rank);
    return rank;
  };
  return {
    caller,
    judge: (path, root, { isForeseen = false } = {}) => {
      const isAgreed = isForeseen && caller.consented;
      const kind = findSelfRunning(path, root);
      if (kind === 'repository' || (kind === 'tool' && !isAgreed)) return runsByItself(path);
      const refusal = write.judge(path, 'write');
      const rank = rankRefusal(refusal);
      if (rank === 0 || (rank === 1 && isAgreed) || rank <= rankOf(root)) return undefined;
      return refusal;
    },
  };
}

function findSelfRunning(path: string, root: string): 'repository' | 'tool' | undefined {
  if (!isWithin(root, path)) return undefined;
  const inside = `${foldPath(path.slice(root.length))}/`;
  if (repositories.some((name) => inside.includes(`/${name}/`))) return 'repository';
  return selfRunningNames.some((name) => inside.includes(`/${name}/`)) ? 'tool' : undefined;
}

/** 0: open, or no rule speaks of it. 1: a person is asked. 2: closed. */
function rankRefusal(refusal: Refusal | undefined): 0 | 1 | 2 {
  if (refusal === undefined || refusal.code === 'NO_RULE_ALLOWS') return 0;
  return refusal.code === 'APPROVAL_REQUIRED' ? 1 : 2;
}

function runsByItself(path: string): Refusal {
  const message = `${path} would be run or obeyed by other programs without being asked.`;
  return refuse('RULE_DENIES', 'runs-by-itself', message, { remedy: 'A person can create it outside the gate.' });
}
