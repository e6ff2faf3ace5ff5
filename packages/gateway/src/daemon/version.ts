import { readFileSync } from 'node:fs';
import { packageFile } from '../call/program-files.ts';

/** The version of the package that holds this file. */
export const version: string = (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string })
  .version;
