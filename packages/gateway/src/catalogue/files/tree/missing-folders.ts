import { basename, dirname, join } from 'node:path';
import { absent } from '../../../call/journal.ts';
import type { Change } from '../../../call/journal.ts';
import type { ToolContext } from '../../../call/tool.ts';
import { checkNotRepository } from '../../../paths/git-repository.ts';
import { hasCode } from '@sallyport/sandbox';
import { checkOpened } from '../../../paths/open-path.ts';
import type { Reach } from '../../../paths/open-path.ts';
import { openFolderToChange } from '../../../paths/open-to-change.ts';
import type { NamedPath } from '../../../paths/parse-path.ts';

/**
 * Which folders at the end of a path are missing: their real paths, outermost first. Asks the rules about each, as the code that creates them will: what they
 * do not let this call make is refused before anybody is asked about the rest. Throws ToolRefused.
 */
export function findMissingFolders(named: NamedPath, reach: Reach): readonly string[] {
  const missing: string[] = [];
  for (let { path } = named; ; path = dirname(path)) {
    try {
      using folder = openFolderToChange({ given: named.given, path }, reach);
      const paths: string[] = [];
      for (const name of missing) {
        const realPath = join(paths.at(-1) ?? folder.realPath, name);
        paths.push(realPath);
        checkOpened(realPath, 'write', { given: named.given, path: realPath }, reach);
        checkNotRepository(realPath, named, reach);
      }
      return paths;
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || path === '/') throw error;
      missing.unshift(basename(path));
    }
  }
}

/** Writes folders that are about to be made into the journal, and says how to note each of them once it is made. */
export async function journalFolders(
  paths: readonly string[],
  { journal, noteChange }: Pick<ToolContext, 'journal' | 'noteChange'>,
): Promise<(path: string) => void> {
  const changeOf = (path: string): Change => ({ path, before: absent, after: { kind: 'folder', mode: 0o777 } });
  if (paths.length > 0) await journal(...paths.map(changeOf));
  return (path) => noteChange(changeOf(path));
}
