import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the package that holds this file. A build is two folders deep, as this file is. */
const manifest = join(import.meta.dirname, '../../package.json');

/** The version of that package. */
export const version: string = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
