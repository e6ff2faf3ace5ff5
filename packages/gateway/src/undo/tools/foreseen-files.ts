import { lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasCode, isWithin } from '@sallyport/sandbox';
import { absent } from '../../call/journal.ts';
import type { EntryState } from '../../call/journal.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { readState } from '../../catalogue/files/tree/entry-state.ts';
import { openTarget } from '../../paths/open-to-change.ts';
import type { Target } from '../../paths/open-to-change.ts';

/** Where bytes are now: under their own path, or in the trash. */
export interface Place {
  readonly in: 'workspace' | 'trash';
  readonly path: string;
  /** They will be moved from here, so that nothing is left. */
  readonly isTaken?: boolean;
}

export interface Seen {
  readonly state: EntryState;
  /** Absent: there is nothing, or a step makes it. */
  readonly at?: Place;
  /** It cannot be known until the steps before it are done. */
  readonly isAssumed?: boolean;
}

/**
 * The files as they will be when the steps planned so far are done. A step is planned against this, so that the changes
 * of many calls can be undone one after the other, and everything is checked before anything happens.
 */
export class ForeseenFiles {
  readonly #seen = new Map<string, Seen>();
  readonly #trashFolder: string;
  /** Names in the trash that steps fill or empty, with the current place of what will be there. */
  readonly #trash = new Map<string, Place | undefined>();

  constructor(trashFolder: string) {
    this.#trashFolder = trashFolder;
  }

  put(path: string, seen: Seen): void {
    // What was known about its entries is about something that is gone.
    for (const each of this.#seen.keys()) if (isWithin(path, each)) this.#seen.delete(each);
    this.#seen.set(path, seen);
  }

  /** What is known about the entries of a folder moves with it, to the trash and back. */
  carry(from: string, to: string): void {
    for (const [path, seen] of [...this.#seen]) {
      if (path === from || !isWithin(from, path)) continue;
      this.#seen.delete(path);
      this.#seen.set(join(to, path.slice(from.length)), seen);
    }
  }

  /** The current place of what will have this name in the trash. Undefined: nothing will. */
  findKept(name: string): Place | undefined {
    if (this.#trash.has(name)) return this.#trash.get(name);
    const path = join(this.#trashFolder, name);
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : { in: 'trash', path };
  }

  putKept(name: string, place: Place | undefined): void {
    this.#trash.set(name, place);
  }

  /** `isWhole`: reads a folder down to the last file; otherwise it only matters whether it is empty. */
  async look(path: string, isWhole: boolean, context: ToolContext): Promise<Seen> {
    const known = this.#seen.get(path);
    const at = known === undefined ? this.#locate(path) : known.at;
    const isFolder = known === undefined || known.state.kind === 'tree' || known.state.kind === 'folder';
    if (!isFolder) return known;
    const changed = [...this.#seen.keys()].filter((each) => each !== path && isWithin(path, each));
    if (at === undefined) {
      if (known === undefined || this.#isEmpty(path, at, changed)) return known ?? { state: absent };
      return { state: { kind: 'tree', sha256: '', entries: 0 }, isAssumed: true };
    }
    if (lstatFolder(at.path)) {
      if (this.#isEmpty(path, at, changed)) return { state: { kind: 'folder', mode: modeOf(at.path) }, at };
      if (!isWhole || changed.length > 0) {
        return { state: { kind: 'tree', sha256: '', entries: 0 }, at, isAssumed: changed.length > 0 };
      }
    }
    if (known !== undefined) return known;
    const state = await this.#read(at, context);
    return state.kind === 'absent' ? { state } : { state, at };
  }

  /** Whether something could be put into this folder. */
  isFolder(path: string): boolean {
    const known = this.#seen.get(path);
    if (known !== undefined) return known.state.kind === 'folder' || known.state.kind === 'tree';
    const at = this.#locate(path);
    return at !== undefined && lstatFolder(at.path);
  }

  /** Where the entry is, unless it is itself among those that a step has changed. */
  #locate(path: string): Place | undefined {
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
      const known = this.#seen.get(folder);
      if (known === undefined) continue;
      if (known.at === undefined || known.state.kind !== 'tree') return undefined;
      return { ...known.at, path: join(known.at.path, path.slice(folder.length)) };
    }
    return { in: 'workspace', path };
  }

  /** Without a place: the folder is one that a step makes. */
  #isEmpty(path: string, at: Place | undefined, changed: readonly string[]): boolean {
    const gone = new Set<string>();
    for (const each of changed) {
      if (dirname(each) !== path) continue;
      if (this.#seen.get(each)?.state.kind !== 'absent') return false;
      gone.add(basename(each));
    }
    return at === undefined || readdirSync(at.path).every((name) => gone.has(name));
  }

  async #read(at: Place, context: ToolContext): Promise<EntryState> {
    try {
      using target = openPlace(at, context);
      return await readState(target.folder, target.name, context);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return absent;
      // A part of the path is a file by now.
      if (error instanceof ToolFailure && error.code === 'NOT_A_FOLDER') return absent;
      throw error;
    }
  }
}

/** Component by component, through no link. The trash belongs to the gate: no rule applies to it. */
export function openPlace({ in: where, path }: Place, context: ToolContext): Target {
  const ownTrash = { paths: { judge: () => undefined }, workingDirectory: context.trashFolder };
  return openTarget({ given: path, path }, where === 'trash' ? ownTrash : context);
}

function lstatFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function modeOf(path: string): number {
  return lstatSync(path).mode & 0o7777;
}
