import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { isInRepository } from '../../paths/git-repository.ts';
import type { OpenFolder } from '../../paths/open-path.ts';
import { openFolderToChange, Target } from '../../paths/open-to-change.ts';
import type { NamedPath } from '../../paths/parse-path.ts';
import { compileGlob } from './compile-pattern.ts';
import type { Matches } from './compile-pattern.ts';
import { failureFrom } from './failure-from.ts';
import { EntryIdentities, identifyEntry, identifyFolder } from './tree/identify-entries.ts';
import { readEntries } from './tree/read-entries.ts';

const maxFiles = 1000;
const maxScanned = 100_000;

/** A file that is to be moved, and what has its new name, as `identify` says it. */
export interface MovingFile {
  readonly name: string;
  readonly source: string;
  readonly replaced: string;
}

export interface IdentifiedMove {
  readonly files: readonly MovingFile[];
  readonly basis: string;
}

/** Two open folders, and which files go from one to the other. */
export class MovePlan implements Disposable {
  readonly from: OpenFolder;
  readonly to: OpenFolder;
  readonly #fromNamed: NamedPath;
  readonly #toNamed: NamedPath;
  readonly #context: ToolContext;

  constructor(from: NamedPath, to: NamedPath, context: ToolContext) {
    this.#fromNamed = from;
    this.#toNamed = to;
    this.#context = context;
    this.from = openNamed(from, context);
    try {
      this.to = openNamed(to, context);
    } catch (error) {
      this.from[Symbol.dispose]();
      throw error;
    }
  }

  /** The matching regular files. `omitted` counts those that the rules keep back at either end. */
  async findFiles(
    patterns: readonly string[],
  ): Promise<{ readonly names: readonly string[]; readonly omitted: number }> {
    const globs = patterns.map((pattern) => compileName(pattern));
    const { signal } = this.#context;
    const { entries, cut } = await readEntries(this.from, { maxEntries: maxScanned, signal });
    const matching = entries.filter(({ name, kind }) => kind === 'file' && globs.some((matches) => matches(name)));
    const names = matching.map(({ name }) => name).filter((name) => this.#isAllowed(name));
    if (!cut && names.length <= maxFiles) return { names, omitted: matching.length - names.length };
    throw new ToolFailure('TOO_LARGE', `More than ${maxFiles} files of ${this.#fromNamed.given}; narrow the patterns.`);
  }

  /** Not to be closed: its folder belongs to the plan. */
  source(name: string): Target {
    return locate(name, this.#fromNamed, this.from);
  }

  destination(name: string): Target {
    return locate(name, this.#toNamed, this.to);
  }

  isTaken(name: string): boolean {
    return lstatSync(this.to.entry(name), { throwIfNoEntry: false }) !== undefined;
  }

  /** Of the files themselves, of those that they would replace, and of the folders. */
  identify(names: readonly string[]): IdentifiedMove {
    const identities = new EntryIdentities();
    for (const folder of [this.from, this.to]) identities.add('.', identifyFolder(folder));
    const files = names.map((name) => {
      const [source, replaced] = [identifyEntry(this.from, name), identifyEntry(this.to, name)];
      identities.add(name, `${source} ${replaced}`);
      return { name, source, replaced };
    });
    return { files, basis: identities.digest() };
  }

  [Symbol.dispose](): void {
    this.from[Symbol.dispose]();
    this.to[Symbol.dispose]();
  }

  #isAllowed(name: string): boolean {
    const { paths } = this.#context;
    return [this.from, this.to]
      .map((folder) => folder.realPathOf(name))
      .every((path) => paths.judge(path, 'write') === undefined && !isInRepository(path, this.#context));
  }
}

/** As in a shell, `*` does not mean hidden files. Throws ToolRefused. */
export function compileName(pattern: string): Matches {
  const matches = compileGlob(pattern, { caseSensitive: true });
  return (name) => (pattern.startsWith('.') || !name.startsWith('.')) && matches(name);
}

function openNamed(named: NamedPath, context: ToolContext): OpenFolder {
  try {
    return openFolderToChange(named, context);
  } catch (error) {
    // There are two folders: the message has to say which.
    throw failureFrom(error, named.given);
  }
}

function locate(name: string, named: NamedPath, folder: OpenFolder): Target {
  return new Target({ given: join(named.given, name), path: join(named.path, name) }, folder);
}
