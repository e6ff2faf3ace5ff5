import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');
export const binFolder = join(root, 'node_modules/.bin');

/** The environment for tools of the project: its own Node and its own programs come first. */
export function toolEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${binFolder}:${process.env['PATH'] ?? ''}` };
}
