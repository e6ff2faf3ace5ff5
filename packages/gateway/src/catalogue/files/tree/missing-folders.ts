import { basename, dirname, join } from 'node:path';
import { checkNotRepository } from '../../../paths/git-repository.ts';
import { hasCode } from '@sallyport/sandbox';
import { checkOpened } from '../../../paths/open-path.ts';
import type { Reach } from '../../../paths/open-path.ts';
import { openFolderToChange } from '../../../paths/open-to-change.ts';
import type { NamedPath } from '../../../paths/parse-path.ts';

/**
 * How many folders at the end of a path are missing. Asks the rules about each, as the code that creates them will: what they
 * do not let this call make is refused before anybody is asked about the rest. Throws ToolRefused.
 */
export function countMissingFolders(named: NamedPath, reach: Reach): number {
  const missing: string[] = [];
  for (let { path } = named; ; path = dirname(path)) {
    try {
      using folder = openFolderToChange({ given: named.given, path }, reach);
      let realPath = folder.realPath;
      for (const name of missing) {
        realPath = join(realPath, name);
        checkOpened(realPath, 'write', { given: named.given, path: realPath }, reach);
        checkNotRepository(realPath, named, reach);
      }
      return missing.length;
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || path === '/') throw error;
      missing.unshift(basename(path));
    }
  }
}
