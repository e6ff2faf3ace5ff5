import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { parsePath } from '../../paths/parse-path.ts';
import type { GitArguments } from './git-arguments.ts';
import { refuseArguments } from './git-arguments.ts';
import type { GitOperation, GitTargets } from './git-operation.ts';
import type { GitSandbox } from './git-sandbox.ts';

/** What can only be a revision: a range, an exclusion, a file in a commit. */
const onlyRevision = /\.\.(?!\/)|^\^|:/;
/** A file in a commit, as in `HEAD~1:src/main.ts`. */
const inCommit = /^(?<commit>[^:{}]+):(?<path>[^:].*)$/;

type Kind = 'commit' | 'tree' | 'blob' | 'missing';

/**
 * Tells revisions from paths, as git does where no `--` tells them apart, and checks both: a path must be allowed, and a
 * revision must name commits or a file by its path. Content named by its id alone has no path that could be judged.
 */
export async function sortTargets(
  operation: GitOperation,
  { options, before, after }: GitArguments,
  git: GitSandbox,
  context: ToolContext,
): Promise<GitTargets> {
  if (operation.before === 'paths') return { options, revisions: [], paths: [...before, ...(after ?? [])] };
  if (operation.before !== 'either') return { options, revisions: before, paths: after ?? [] };
  const kinds = await readKinds([...new Set(before.flatMap(listObjects))], git);
  const isRevision = (name: string): boolean =>
    after !== undefined || onlyRevision.test(name) || (kinds.get(peel(name)) ?? 'missing') !== 'missing';
  const revisions = before.filter(isRevision);
  for (const revision of revisions) checkRevision(revision, kinds, git, context);
  const paths = before.filter((name) => !isRevision(name));
  for (const path of paths) checkPath(path, context.workingDirectory, context);
  return { options, revisions, paths: [...paths, ...(after ?? [])] };
}

/** The objects that a revision names, as git is asked about them. */
function listObjects(revision: string): readonly string[] {
  const commit = inCommit.exec(revision)?.groups?.['commit'];
  if (commit !== undefined) return [revision, peel(commit)];
  return listEnds(revision).map(peel);
}

function listEnds(revision: string): readonly string[] {
  return revision
    .replace(/^\^/, '')
    .split(/\.{2,3}/)
    .filter(Boolean);
}

/** A tag stands for what it leads to. */
function peel(name: string): string {
  return `${name}^{}`;
}

async function readKinds(names: readonly string[], git: GitSandbox): Promise<ReadonlyMap<string, Kind>> {
  if (names.length === 0) return new Map();
  const stdin = names.map((name) => `${name}\n`).join('');
  const output = await git.run(['cat-file', '--batch-check=%(objecttype)', '--buffer'], { stdin });
  const lines = output.stdout.bytes.toString('utf8').split('\n');
  return new Map(names.map((name, index) => [name, asKind(lines[index])]));
}

function asKind(line: string | undefined): Kind {
  return line === 'commit' || line === 'tree' || line === 'blob' ? line : 'missing';
}

function checkRevision(
  revision: string,
  kinds: ReadonlyMap<string, Kind>,
  git: GitSandbox,
  context: ToolContext,
): void {
  if (revision.includes(':')) {
    const { commit = '', path = '' } = inCommit.exec(revision)?.groups ?? {};
    // A tree inside a commit would do instead of one, and then the path would not be the whole path.
    if (revision.includes('..') || kinds.get(revision) !== 'blob' || kinds.get(peel(commit)) !== 'commit') {
      throw refuseArguments('A revision with a colon must name a file in a commit, as in HEAD~1:src/main.ts.');
    }
    checkPath(path, path.startsWith('./') ? context.workingDirectory : git.repository.top, context);
  } else if (listEnds(revision).some((end) => ['blob', 'tree'].includes(kinds.get(peel(end)) ?? ''))) {
    throw new ToolRefused(
      refuse('UNSAFE_PATH', 'git-object', 'It names content of the repository without saying which file it is.', {
        remedy: 'Name the file in a commit, as in HEAD~1:src/main.ts.',
      }),
    );
  }
}

function checkPath(path: string, base: string, { paths }: ToolContext): void {
  const refusal = paths.judge(parsePath(path, base).path, 'read');
  if (refusal !== undefined) throw new ToolRefused(refusal);
}
