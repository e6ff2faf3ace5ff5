import { spellBytes } from '@sallyport/contract';
import { ToolFailure } from '../../call/tool.ts';
import type { Effect } from '../../call/tool.ts';
import { hasOption, refuseArguments } from './git-arguments.ts';
import type { GitArguments, GitOption } from './git-arguments.ts';
import { maxListBytes, TooMuchToLookAt } from './git-sandbox.ts';
import type { GitSandbox } from './git-sandbox.ts';
import { plainDiff } from './reading-operations.ts';
import { hideUserinfo } from './resolve-remote.ts';
import { readSent } from './sent-objects.ts';
import { digest, patchOptions } from './shown-changes.ts';
import type { ShownChanges } from './shown-changes.ts';

/** What would be sent. */
export interface Push extends ShownChanges {
  /** The same by the ids of commits instead of names: nothing else is sent, whatever the names come to mean. */
  readonly refspecs: readonly string[];
  /** Those of the caller that are not among the refspecs now. */
  readonly options: readonly GitOption[];
}

interface Sent {
  readonly id: string;
  readonly to: string;
}

const maxReferences = 200;
/** How many commits are listed. The patch shows what each of them changes. */
const maxListed = 1000;

const tooLong: NonNullable<Effect['unshown']> = {
  bytes: maxListBytes + 1,
  remedy:
    'Push fewer commits at a time: name an earlier commit and the branch, as in COMMIT:refs/heads/main, and then the next. ' +
    'A single commit that is too large is for a person to push.',
};

/** What a push would send, from what the repository knows about the remote: nobody is asked over the network. */
export async function showPush(
  { options, before: [remote = 'origin', ...refspecs] }: GitArguments,
  addresses: readonly string[],
  git: GitSandbox,
): Promise<Push> {
  const sent = [...(await resolve(refspecs, options, git)), ...(await listTags(options, refspecs, git))];
  if (sent.length === 0) throw new ToolFailure('EXECUTION_ERROR', 'There is nothing to push.');
  if (sent.length > maxReferences) throw refuseArguments('The push would send too many branches and tags to look at.');
  const { commits: ids, tags } = await readSent([...new Set(sent.map(({ id }) => id))], git);
  // A name with a wildcard would be taken for all the remotes that it fits.
  const known = /[*?[\\]/.test(remote) ? [] : ['--not', `--remotes=${remote}`];
  const unsent = [...ids, ...known, '--'];
  const commits = await git.list(
    ['log', `--max-count=${maxListed + 1}`, '--no-color', '--no-show-signature', '--format=%H %an: %s', ...unsent],
    { separator: '\n' },
  );
  const count = commits.length > maxListed ? await countCommits(unsent, git) : commits.length;
  const patch = await readPatches(unsent, git);
  return {
    refspecs: sent.map(({ id, to }) => `${id}:${to}`),
    options: options.filter(({ name }) => name !== '--tags' && name !== '--follow-tags'),
    patch: tags + (patch ?? ''),
    ...(patch === undefined ? { unshown: tooLong } : {}),
    basis: digest(git.repository.gitFolder, addresses.join('\n'), ...sent.flatMap(({ id, to }) => [id, to])),
    lines: [
      ...addresses.map((address) => `to: ${hideUserinfo(address)}`),
      ...sent.map(({ id, to }) => `pushes: ${id} as ${to}`),
      `commits that ${remote} did not have when it was last looked at: ${count}`,
      ...commits.slice(0, maxListed).map((line) => `  ${line}`),
      ...(count > maxListed ? [`  and ${count - maxListed} more`] : []),
      ...(patch === undefined ? [`Their patch is not shown: it is longer than ${spellBytes(maxListBytes)}.`] : []),
    ],
  };
}

async function countCommits(unsent: readonly string[], git: GitSandbox): Promise<number> {
  return Number((await git.text(['rev-list', '--count', ...unsent])).trim());
}

/** Commit by commit: what one adds and a later one takes away is sent too. Undefined: it is too much. */
async function readPatches(unsent: readonly string[], git: GitSandbox): Promise<string | undefined> {
  const how = ['--no-color', '--no-show-signature', '--diff-merges=first-parent', '--format=commit %H%n%w(0,4,4)%B'];
  try {
    return await git.text(['log', ...how, ...patchOptions, ...plainDiff, ...unsent]);
  } catch (error) {
    if (error instanceof TooMuchToLookAt) return undefined;
    throw error;
  }
}

/** Without names: the present branch, under its own name. */
async function resolve(
  refspecs: readonly string[],
  options: readonly GitOption[],
  git: GitSandbox,
): Promise<readonly Sent[]> {
  const isTagsOnly = refspecs.length === 0 && hasOption(options, '--tags');
  const named = refspecs.length === 0 ? (isTagsOnly ? [] : ['HEAD']) : refspecs;
  const sent: Sent[] = [];
  for (const refspec of joinTags(named)) {
    if (refspec.includes('*'))
      throw refuseArguments('The push would send whatever fits a pattern.', 'Name each branch.');
    const [from = '', to] = refspec.split(':');
    const id = (await git.list(['rev-parse', '--verify', '--end-of-options', from], { separator: '\n' })).at(-1) ?? '';
    sent.push({ id, to: await placeOf(from, to, git) });
  }
  return sent;
}

/** `tag v1` is another way to say `refs/tags/v1`. */
function joinTags(names: readonly string[]): readonly string[] {
  return names.flatMap((name, at) =>
    name === 'tag' && at + 1 < names.length ? [] : names[at - 1] === 'tag' ? [`refs/tags/${name}`] : [name],
  );
}

async function placeOf(from: string, to: string | undefined, git: GitSandbox): Promise<string> {
  if (to?.startsWith('refs/') === true) return to;
  const symbolic = from === 'HEAD' ? ['symbolic-ref', '--quiet', 'HEAD'] : ['rev-parse', '--symbolic-full-name', from];
  const full = (await git.list(symbolic, { separator: '\n' })).at(-1) ?? '';
  if (!full.startsWith('refs/')) {
    throw new ToolFailure(
      'EXECUTION_ERROR',
      `${from} is not a branch or tag; say where it goes, as in ${from}:refs/heads/name.`,
    );
  }
  if (to === undefined) return full;
  return full.startsWith('refs/tags/') ? `refs/tags/${to}` : `refs/heads/${to}`;
}

async function listTags(
  options: readonly GitOption[],
  refspecs: readonly string[],
  git: GitSandbox,
): Promise<readonly Sent[]> {
  const all = hasOption(options, '--tags');
  if (!all && !hasOption(options, '--follow-tags')) return [];
  const merged = all ? [] : [`--merged=${refspecs[0]?.split(':')[0] ?? 'HEAD'}`];
  const format = '--format=%(objecttype) %(objectname) %(refname)';
  const tags = await git.list(['for-each-ref', ...merged, format, 'refs/tags'], { separator: '\n' });
  return tags
    .map((line) => line.split(' '))
    .filter(([type]) => all || type === 'tag')
    .map(([, id = '', to = '']) => ({ id, to }));
}
