import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The build that this process runs, and the record of the newest one, which lies beside its folder. */
const folder = import.meta.dirname;
const record = join(dirname(folder), 'current.json');
const isBuild = /^[0-9a-f]{16}$/.test(basename(folder));

/** Says that the files on disk are of another build than the one that runs. Undefined: they are not, or nobody knows. */
export function describeNewerProgram(): string | undefined {
  if (!isBuild) return undefined;
  try {
    const { folder: newest } = JSON.parse(readFileSync(record, 'utf8')) as { readonly folder?: unknown };
    if (newest === basename(folder)) return undefined;
  } catch {
    // An update is under way, or removed the program.
  }
  return 'The program on disk was updated while the daemon ran. `sallyport restart` starts the new one.';
}
