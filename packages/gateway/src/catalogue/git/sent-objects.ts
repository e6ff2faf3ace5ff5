import { refuseArguments } from './git-arguments.ts';
import type { GitSandbox } from './git-sandbox.ts';

/** What references that are pushed lead to. */
export interface SentObjects {
  readonly commits: readonly string[];
  /** The text of the tags on the way: it is sent too, and is in no commit. */
  readonly tags: string;
}

interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly content: string;
}

const longestChain = 10;

/** Follows tags to their commits. Throws ToolRefused for files and folders, which no list of commits would show. */
export async function readSent(ids: readonly string[], git: GitSandbox): Promise<SentObjects> {
  const commits = new Set<string>();
  const tags: string[] = [];
  let waiting = ids;
  for (let step = 0; waiting.length > 0; step++) {
    if (step === longestChain) throw refuseArguments('The push would send a tag of a tag of many more tags.');
    const types = await readTypes(waiting, git);
    const other = types.find(({ type }) => type !== 'commit' && type !== 'tag');
    if (other !== undefined) {
      throw refuseArguments(
        `The push would send ${other.id}, which is a ${other.type} and not a commit.`,
        'Commit it, and push the branch.',
      );
    }
    for (const { id, type } of types) if (type === 'commit') commits.add(id);
    const found = await readObjects(
      types.filter(({ type }) => type === 'tag').map(({ id }) => id),
      git,
    );
    for (const { id, content } of found) tags.push(`tag ${id}\n${content.replaceAll(/^/gm, '    ')}\n`);
    waiting = found.map(({ content }) => /^object ([0-9a-f]+)\n/.exec(content)?.[1] ?? '');
  }
  return { commits: [...commits], tags: tags.join('') };
}

async function readTypes(ids: readonly string[], git: GitSandbox): Promise<readonly Omit<GitObject, 'content'>[]> {
  const stdin = ids.map((id) => `${id}\n`).join('');
  const lines = await git.list(['cat-file', '--batch-check=%(objectname) %(objecttype)'], { separator: '\n', stdin });
  return lines.map((line) => {
    const [id = '', type = ''] = line.split(' ');
    return { id, type };
  });
}

async function readObjects(ids: readonly string[], git: GitSandbox): Promise<readonly GitObject[]> {
  if (ids.length === 0) return [];
  const stdin = ids.map((id) => `${id}\n`).join('');
  let rest = await git.bytes(['cat-file', '--batch=%(objectname) %(objecttype) %(objectsize)'], { stdin });
  const objects: GitObject[] = [];
  while (rest.length > 0) {
    const start = rest.indexOf('\n') + 1;
    const [id = '', type = '', size = ''] = rest.toString('utf8', 0, start - 1).split(' ');
    const end = start + Number(size);
    objects.push({ id, type, content: rest.toString('utf8', start, end) });
    // A line end follows each.
    rest = rest.subarray(end + 1);
  }
  return objects;
}
