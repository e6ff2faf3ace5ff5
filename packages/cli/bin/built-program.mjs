import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)));
const buildsFolder = join(packageFolder, 'dist');
/** Names the build that is used. */
export const recordFile = join(buildsFolder, 'current.json');

/** The last build. SALLYPORT_SOURCES=1 runs the sources of a checkout instead, and so does a checkout without a build. */
export function findMainModule(environment = process.env) {
  const sources = join(packageFolder, 'src/main.ts');
  if (environment.SALLYPORT_SOURCES && existsSync(sources)) return sources;
  return findBuild() ?? sources;
}

function findBuild() {
  const record = readRecord();
  const main = record && join(buildsFolder, record.folder, 'main.js');
  return main !== undefined && existsSync(main) ? main : undefined;
}

/** Undefined: nothing was built, or the record is damaged. */
export function readRecord() {
  try {
    return JSON.parse(readFileSync(recordFile, 'utf8'));
  } catch {
    return undefined;
  }
}
