import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A build is two folders deep, as this file is. */
const packageFolder = resolve(import.meta.dirname, '../..');

export function packageFile(path: string): string {
  return join(packageFolder, path);
}

/** Whether this is the project itself rather than a package of it that somebody installed. */
export function isCheckout(): boolean {
  return existsSync(packageFile('src'));
}
