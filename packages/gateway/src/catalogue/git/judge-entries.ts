import { join } from 'node:path';
import { refuse } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import type { EntryListing, GitTargets } from './git-operation.ts';
import type { GitSandbox } from './git-sandbox.ts';

export interface JudgedEntries {
  readonly targets: GitTargets;
  /** How many files are left out because the rules keep them from this call. */
  readonly omitted: number;
  /** Files that it would write only because a person agrees. */
  readonly onlyAgreed: readonly string[];
  /** All files that it may write, from the top of the repository. */
  readonly written: readonly string[];
}

/** More than this many exclusions fit into no command line. */
const maxOmitted = 500;

/**
 * Asks the rules about every file that an operation would show or change. Those that they forbid are left out of it; or,
 * where an operation cannot do without them, it is refused before it begins. Throws ToolRefused, and GitFailed when git
 * cannot tell.
 */
export async function judgeEntries(
  listing: EntryListing,
  targets: GitTargets,
  git: GitSandbox,
  context: ToolContext,
): Promise<JudgedEntries> {
  const forbidden = new Map<string, Refusal>();
  const onlyAgreed = new Set<string>();
  const written = new Set<string>();
  for (const command of listing.commands) {
    for (const entry of await git.list(command)) {
      const name = command[0] === 'status' ? entry.slice(3) : entry.replace(/^\n/, '');
      const { top } = git.repository;
      const path = join(top, name);
      if (listing.access === 'write') written.add(name);
      const refusal =
        listing.access === 'write' ? judgeChange(path, top, context) : context.paths.judge(path, listing.access);
      if (refusal !== undefined) forbidden.set(name, refusal);
      else if (listing.access === 'write' && context.leavings.judge(path, top) !== undefined) onlyAgreed.add(name);
    }
  }
  const [first] = forbidden.values();
  // A name that is not UTF-8 reaches us changed, so that it cannot be left out.
  const isStuck = forbidden.size > maxOmitted || forbidden.keys().some((name) => name.includes('\uFFFD'));
  if (first !== undefined && (listing.forbidden === 'refuse' || isStuck)) throw touchesForbidden(forbidden.size, first);
  const submodules = listing.entersSubmodules === true ? await listSubmodules(targets, git) : [];
  const left = [...new Set([...forbidden.keys(), ...submodules])];
  const agreed = { onlyAgreed: [...onlyAgreed], written: [...written] };
  if (left.length === 0) return { targets, omitted: 0, ...agreed };
  const excluded = left.map((name) => `:(top,exclude,literal)${name}`);
  // Exclusions alone would start from the working directory.
  const paths = targets.paths.length === 0 ? [':(top)'] : targets.paths;
  return { targets: { ...targets, paths: [...paths, ...excluded] }, omitted: left.length, ...agreed };
}

/** Whether git may write this file of a repository. What it will write is known, so that a consent counts. */
export function judgeChange(path: string, top: string, { paths, leavings }: ToolContext): Refusal | undefined {
  return paths.judge(path, 'write') ?? leavings.judge(path, top, { isForeseen: true });
}

async function listSubmodules({ paths }: GitTargets, git: GitSandbox): Promise<readonly string[]> {
  const entries = await git.list(['ls-files', '-z', '--stage', '--full-name', '--', ...paths]);
  return entries.filter((entry) => entry.startsWith('160000 ')).map((entry) => entry.slice(entry.indexOf('\t') + 1));
}

function touchesForbidden(count: number, { code, rule }: Refusal): ToolRefused {
  const files = count === 1 ? 'a file' : `${count} files`;
  return new ToolRefused(
    refuse(code, rule, `The operation touches ${files} that the rules keep from this call.`, {
      remedy: 'Name paths without them, or ask a person to do it outside the gate.',
    }),
  );
}
