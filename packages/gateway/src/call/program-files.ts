import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/** A checkout runs its sources, or a build of them where that is current. A build lies two folders deep as well. */
const runsFromSource = import.meta.url.endsWith('.ts');
const packageFolder = resolve(import.meta.dirname, '../..');

/** What a build is made of: each of these runs by itself, in a process or a thread. */
export const programs = ['cli/main', 'storage/sqlite/writer-thread', 'storage/sqlite/verify-thread'] as const;

/** Of the package that holds the program. */
export function packageFile(path: string): string {
  return join(packageFolder, path);
}

/** Where one of the programs lies. */
export function programFile(program: (typeof programs)[number]): string {
  if (runsFromSource) return packageFile(`src/${program}.ts`);
  return join(import.meta.dirname, `${basename(program)}.js`);
}

/** Whether this is the project itself rather than a package of it that somebody installed. */
export function isCheckout(): boolean {
  return existsSync(packageFile('src'));
}
