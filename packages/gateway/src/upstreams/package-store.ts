import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { attempt, isJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { ProgramNotStarted } from '@sallyport/sandbox';
import type { Mount } from '@sallyport/sandbox';
import { ToolFailure } from '../call/tool.ts';
import { findToolFiles } from '../programs/find-tool-files.ts';
import type { ToolFile } from '../programs/find-tool-files.ts';
import { installToolFile } from '../programs/install-tool-file.ts';
import { placeProgram } from '../programs/place-program.ts';
import { ToolStore } from '../programs/tool-store.ts';
import type { PinnedPackage } from './upstream-config.ts';

/** Every package has the same name in the store, because strangers choose the names of packages. */
const treeName = 'server';
const insideFolder = `/tool/bin/${treeName}`;

/** The file to start, as the server sees it. */
export function entryInside({ entry }: Pick<PinnedPackage, 'entry'>): string {
  return posix.join(insideFolder, entry);
}

/**
 * The packages of upstream servers, each with everything it depends on, under the hash of all its files. They are in
 * a folder of the gate that no program can reach, and are read again before a server starts if anything about them
 * looks different.
 */
export class PackageStore {
  readonly #folder: string;
  readonly #store: Promise<ToolStore>;

  constructor(folder: string) {
    this.#folder = folder;
    this.#store = ToolStore.open(folder);
    // The next caller that needs a package gets the error.
    this.#store.catch(() => undefined);
  }

  /** Keeps a package that arrives as the bundle of its tree. Durability: as ToolStore. Throws ToolFailure. */
  async keep(bytes: AsyncIterable<Uint8Array>): Promise<PinnedPackage> {
    // The store ignores names that begin with a dot, and removes them when it is opened.
    const draft = join(this.#folder, `.${randomUUID()}`);
    try {
      await installToolFile(draft, { file: treeName, kind: 'folder', bytes });
      const found = await findTree(draft);
      if (typeof found === 'string') throw unfit(found);
      const named = await readLock(found.path);
      const { sha256, entry } = await (await this.#store).take(found);
      return { ...named, sha256, entry };
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  /** What a server sees of its package. Throws ProgramNotStarted when that is not what was pinned. */
  async place({ name, version, sha256, entry }: PinnedPackage): Promise<readonly Mount[]> {
    const store = await this.#store;
    const found = await findTree(store.pathOf({ sha256, file: '' }));
    const stored = typeof found === 'string' ? undefined : { sha256, file: treeName, entry, parts: found.parts };
    // All that is there counts, so that a file that was added is noticed as well as one that was changed.
    if (stored !== undefined && (await store.verify(stored))) return placeProgram(store, stored, {}).mounts;
    const why = typeof found === 'string' ? `cannot be used: ${found}` : 'have changed since it was added';
    throw new ProgramNotStarted(
      'EXECUTION_ERROR',
      `The files of its package ${name}@${version} ${why}. Remove the upstream and add it again to fetch them again.`,
    );
  }

  /** To be called when no server needs it any more. */
  async drop({ sha256 }: PinnedPackage): Promise<void> {
    await rm((await this.#store).pathOf({ sha256, file: '' }), { recursive: true, force: true });
  }
}

/** The tree in a folder of the store, or why there is none. */
async function findTree(folder: string): Promise<ToolFile | string> {
  const { files, skipped } = await findToolFiles(folder).catch(() => ({ files: [], skipped: [] }));
  return files.find(({ file }) => file === treeName) ?? skipped[0]?.reason ?? 'they are gone';
}

/** Which package it is, in the words of npm's own lock. */
async function readLock(tree: string): Promise<Pick<PinnedPackage, 'name' | 'version'>> {
  const file = join(tree, 'package-lock.json');
  const lock = await readFile(file, 'utf8').then(parse, () => undefined);
  const packages = memberOf(lock, 'packages');
  const wanted = memberOf(memberOf(packages, ''), 'dependencies');
  const [name] = isJsonObject(wanted) ? Object.keys(wanted) : [];
  const version = name === undefined ? undefined : memberOf(memberOf(packages, `node_modules/${name}`), 'version');
  if (name === undefined || typeof version !== 'string') throw unfit('it has no lock file of npm');
  return { name, version };
}

function parse(text: string): Json | undefined {
  return attempt(() => JSON.parse(text) as Json);
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function unfit(why: string): ToolFailure {
  return new ToolFailure('EXECUTION_ERROR', `The package cannot be used: ${why}.`, { category: 'validation_failed' });
}
