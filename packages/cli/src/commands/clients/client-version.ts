import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Of a program on the PATH that came as an npm package. It is read, not asked: nothing is started. */
export function findVersion(program: string, environment: Environment): { readonly version?: string } {
  for (const folder of (environment['PATH'] ?? '').split(':')) {
    if (folder === '') continue;
    try {
      return readPackageAbove(dirname(realpathSync(join(folder, program))));
    } catch {
      // Not there.
    }
  }
  return {};
}

function readPackageAbove(folder: string): { readonly version?: string } {
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: unknown };
    if (typeof version === 'string') return { version: version.slice(0, 40) };
  } catch {
    // Further up.
  }
  const parent = dirname(folder);
  return parent === folder || folder.endsWith('/node_modules') ? {} : readPackageAbove(parent);
}
