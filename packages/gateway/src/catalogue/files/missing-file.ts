import { basename, dirname, join } from 'node:path';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { nearestNames } from '../../text/nearest-names.ts';
import { openFolder } from '../../paths/open-path.ts';
import { spellLike } from '../../paths/parse-path.ts';
import type { NamedPath } from '../../paths/parse-path.ts';
import { readEntries } from './tree/read-entries.ts';

/** Comparing names costs main-thread time; in a folder with more of them, only some are looked at. */
const maxCompared = 500;

/** The failure for a file that is not there, with names nearby that the caller may have meant and may read. */
export async function missingFile(named: NamedPath, context: ToolContext): Promise<ToolFailure> {
  const names = await findSimilar(named, context);
  const spelled = names.map((path) => spellLike(named, path, context.workingDirectory)).join(', ');
  return new ToolFailure(
    'NOT_FOUND',
    names.length === 0 ? `${named.given} does not exist.` : `${named.given} does not exist. Nearest: ${spelled}.`,
  );
}

async function findSimilar(named: NamedPath, context: ToolContext): Promise<readonly string[]> {
  const parent = dirname(named.path);
  try {
    using folder = openFolder({ given: dirname(named.given), path: parent }, context);
    const { entries } = await readEntries(folder, { maxEntries: maxCompared, signal: context.signal });
    const known = entries
      .map(({ name }) => name)
      .filter((name) => !/\p{Cc}/u.test(name) && context.paths.judge(folder.realPathOf(name), 'read') === undefined);
    return nearestNames(basename(named.path), known).map((name) => join(parent, name));
  } catch {
    // A suggestion is a courtesy: an error while looking for one must not hide that the file is missing.
    return [];
  }
}
