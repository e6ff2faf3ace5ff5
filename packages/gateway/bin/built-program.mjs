import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)));
const buildsFolder = join(packageFolder, 'dist');
/** Names the build that is used, and says of what it was made. */
export const recordFile = join(buildsFolder, 'current.json');

/** The build where it is current, otherwise the sources. Whoever edits a file runs it as it is now. */
export function findMainModule() {
  return findCurrentBuild() ?? join(packageFolder, 'src/cli/main.ts');
}

export function isBuildCurrent() {
  return findCurrentBuild() !== undefined;
}

/** A package that was installed has no sources, and its build is what there is. */
function findCurrentBuild() {
  const record = readRecord();
  const main = record && join(buildsFolder, record.folder, 'main.js');
  if (main === undefined || !existsSync(main)) return undefined;
  const isSame = ([file, seen]) => describeFile(file) === seen;
  const isCurrent = !existsSync(join(packageFolder, 'src')) || Object.entries(record.sources).every(isSame);
  return isCurrent ? main : undefined;
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
