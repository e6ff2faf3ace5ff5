import { lstatSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { foldPath } from '../policy/patterns/canonical-path.ts';
import { refuse } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';
import type { Reach } from './open-path.ts';
import type { NamedPath } from './parse-path.ts';

/**
 * Git takes any folder with such entries for a repository, and obeys the configuration in it. A `commondir` names
 * another folder, of any name, that has the rest.
 */
export function isRepository(has: (name: string) => boolean): boolean {
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

/**
 * A folder that git takes for a repository is one for git alone, whatever it is called: nothing in it is changed, and
 * no entry makes a folder one. To be called again right before the entry appears, because another call may have made
 * the rest meanwhile. Throws ToolRefused.
 */
export function checkNotRepository(realPath: string, named: NamedPath, reach: Pick<Reach, 'workingDirectory'>): void {
  if (!isInRepository(realPath, reach)) return;
  const message = `Git takes the folder of ${named.given} for a repository, or would then, and runs what is written there.`;
  throw new ToolRefused(
    refuse('RULE_DENIES', 'runs-by-itself', message, { remedy: 'Change the repository with git itself.' }),
  );
}

/** Once there is something at the path. Rules can name `.git`, so that what is in one is left to them. */
export function isInRepository(realPath: string, { workingDirectory }: Pick<Reach, 'workingDirectory'>): boolean {
  if (`${foldPath(realPath)}/`.includes('/.git/')) return false;
  const added = foldPath(basename(realPath));
  const parent = dirname(realPath);
  for (let folder = parent; folder !== '/'; folder = dirname(folder)) {
    const isThere = (name: string): boolean => exists(`${folder}/${name}`);
    const has = (name: string): boolean => (folder === parent && foldPath(name) === added) || isThere(name);
    // The working directory is the operator's choice, also when it is a repository.
    const isChosen = folder === workingDirectory && isRepository(isThere);
    if (isRepository(has) && !isChosen) return true;
    if (folder === workingDirectory) return false;
  }
  return false;
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
