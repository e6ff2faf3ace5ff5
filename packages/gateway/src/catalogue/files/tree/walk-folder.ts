import type { ToolContext } from '../../../call/tool.ts';
import type { Access } from '@sallyport/sandbox';
import { ToolRefused } from '../../../call/tool.ts';
import { hasCode } from '@sallyport/sandbox';
import { openEntryFolder } from '../../../paths/open-path.ts';
import type { OpenFolder } from '../../../paths/open-path.ts';
import { takeBreaks } from '../check-signal.ts';
import { readEntries } from './read-entries.ts';
import type { Entry } from './read-entries.ts';

export interface WalkedEntry extends Entry {
  /** Open while the walk stands at this entry. */
  readonly folder: OpenFolder;
  /** From the folder where the walk began. */
  readonly relativePath: string;
}

export interface WalkOptions {
  readonly access: Access;
  readonly recursive: boolean;
  readonly includeHidden: boolean;
  /** Folders of these names are not entered. Absent: none is left out. */
  readonly isPassedOver?: (name: string) => boolean;
}

/** Every level holds a descriptor, and nobody reads a tree that is deeper. */
const maxDepth = 64;
const maxScanned = 200_000;

/** A walk through a folder: sorted, never through links, and only to what the rules allow. */
export class FolderWalk {
  /** Entries that the rules or the system keep from the caller. */
  omitted = 0;
  /** Entries left out because their name starts with a dot. */
  hidden = 0;
  /** Whether the tree is larger or deeper than a walk goes. */
  cut = false;
  #scanned = 0;
  readonly #context: ToolContext;
  readonly #options: WalkOptions;
  readonly #takeBreak: () => Promise<void>;

  constructor(context: ToolContext, options: WalkOptions) {
    this.#context = context;
    this.#options = options;
    this.#takeBreak = takeBreaks(context.signal);
  }

  /** A folder comes before what is in it. Does not close `folder`. */
  async *entries(folder: OpenFolder, prefix = '', depth = 1): AsyncGenerator<WalkedEntry, void, void> {
    const { entries, cut } = await readEntries(folder, {
      maxEntries: maxScanned - this.#scanned,
      signal: this.#context.signal,
    });
    this.#scanned += entries.length;
    this.cut ||= cut;
    for (const { name, kind } of entries) {
      await this.#takeBreak();
      if (!this.#admits(folder, name)) continue;
      const relativePath = prefix + name;
      yield { folder, name, kind, relativePath };
      if (kind !== 'folder' || !this.#options.recursive || this.#options.isPassedOver?.(name) === true) continue;
      if (depth === maxDepth) {
        this.cut = true;
        continue;
      }
      using inner = this.#enter(folder, name);
      if (inner !== undefined) yield* this.entries(inner, `${relativePath}/`, depth + 1);
    }
  }

  #admits(folder: OpenFolder, name: string): boolean {
    if (!this.#options.includeHidden && name.startsWith('.')) {
      this.hidden++;
      return false;
    }
    if (this.#context.paths.judge(folder.realPathOf(name), this.#options.access) === undefined) return true;
    this.omitted++;
    return false;
  }

  /** Absent: the folder is gone, was exchanged for a link, or is closed to us. */
  #enter(folder: OpenFolder, name: string): OpenFolder | undefined {
    try {
      return openEntryFolder(folder, name, this.#options.access, this.#context);
    } catch (error) {
      if (!(error instanceof ToolRefused) && !hasCode(error, 'EACCES', 'ENOENT', 'ENOTDIR')) throw error;
      this.omitted++;
      return undefined;
    }
  }
}
