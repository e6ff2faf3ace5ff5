import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)));
const buildsFolder = join(packageFolder, 'dist');
/** Names the build that is used, and says of what it was made. */
export const recordFile = join(buildsFolder, 'current.json');

/** The build where it is current, otherwise the sources. Whoever edits a file runs it as it is now. */
export function findMainModule() {
  return isBuildCurrent() ? join(buildsFolder, readRecord().folder, 'main.js') : join(packageFolder, 'src/cli/main.ts');
}

/** A package that was installed has no sources, and its build is what there is. */
export function isBuildCurrent() {
  const record = readRecord();
  if (record === undefined) return false;
  if (!existsSync(join(packageFolder, 'src'))) return true;
  return Object.entries(record.sources).every(([file, seen]) => describeFile(file) === seen);
}

/** Changes when the file does. Undefined: there is none. */
export function describeFile(file) {
  const stats = statSync(join(packageFolder, file), { throwIfNoEntry: false });
  return stats && `${stats.size} ${stats.mtimeMs}`;
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(recordFile, 'utf8'));
  } catch {
    return undefined;
  }
}
