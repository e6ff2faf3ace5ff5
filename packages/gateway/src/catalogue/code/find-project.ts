import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, parseJsonObject } from '@sallyport/contract';
import { isWithin } from '@sallyport/sandbox';
import { readSourceFile } from '../../text/source-file.ts';

/** What a folder says about the tools of its project. */
export interface Project {
  /** Absolute. */
  readonly folder: string;
  readonly has: (...names: readonly string[]) => boolean;
  /** Text of a file in the folder, or nothing. */
  readonly read: (name: string) => string;
  /** `scripts` of package.json. */
  readonly scripts: Readonly<Record<string, string>>;
  /** A program that npm installed for the project, here or in a folder above it. Undefined: none. */
  readonly findInstalled: (name: string) => string | undefined;
}

/** `top`: where the search for installed programs ends. */
export function findProject(folder: string, top: string): Project {
  const read = (name: string): string => Buffer.from(readSourceFile(join(folder, name)).bytes ?? []).toString('utf8');
  return {
    folder,
    has: (...names) => names.some((name) => existsSync(join(folder, name))),
    read,
    scripts: readScripts(read('package.json')),
    findInstalled: (name) =>
      listFoldersUp(folder, top)
        .map((at) => join(at, 'node_modules/.bin', name))
        .find(isThere),
  };
}

function isThere(path: string): boolean {
  return existsSync(path);
}

function listFoldersUp(folder: string, top: string): readonly string[] {
  const above = dirname(folder);
  return folder === top || !isWithin(top, above) ? [folder] : [folder, ...listFoldersUp(above, top)];
}

function readScripts(manifest: string): Readonly<Record<string, string>> {
  const scripts = parseJsonObject(manifest)?.['scripts'];
  if (!isJsonObject(scripts)) return {};
  return Object.fromEntries(
    Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
