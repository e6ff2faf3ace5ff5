import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { findRepository } from '../../catalogue/git/find-repository.ts';
import { GitSandbox } from '../../catalogue/git/git-sandbox.ts';
import { readAfter, readBefore, readIndex, readPack } from '../../catalogue/git/undo/kept-repository.ts';
import type { KeptAfter, KeptBefore } from '../../catalogue/git/undo/kept-repository.ts';
import { NotKept, readRepository } from '../../catalogue/git/undo/repository-state.ts';
import type { RepositorySnapshot } from '../../catalogue/git/undo/repository-state.ts';
import type { Restored } from '../../catalogue/git/undo/restore-repository.ts';
import type { JournalEntry } from '../../storage/stores.ts';
import type { Conflict } from './plan-undo.ts';

/** How to restore a repository, for any number of undone calls. */
export interface RepositoryStep {
  readonly git: GitSandbox;
  /** As it is now. */
  readonly snapshot: RepositorySnapshot;
  readonly names: ReadonlyMap<string, Restored>;
  readonly packs: readonly Buffer[];
}

/** A name that is neither as the call left it nor as it was before. */
export interface NameConflict extends Restored {
  readonly name: string;
  readonly now?: string | undefined;
}

/** How one entry about a repository can be undone. */
export type RepositoryOutlook =
  | { readonly kind: 'possible' | 'unchanged' }
  | { readonly kind: 'conflict'; readonly because: Conflict['because']; readonly names: readonly NameConflict[] };

interface Opened {
  readonly git: GitSandbox;
  readonly snapshot: RepositorySnapshot;
  readonly names: Map<string, Restored>;
  readonly packs: Buffer[];
}

/** Repositories as they will be when the steps planned so far are done. */
export class UndoneRepositories {
  readonly #opened = new Map<string, Opened>();
  readonly #trashFolder: string;

  constructor(trashFolder: string) {
    this.#trashFolder = trashFolder;
  }

  /** Entries come the newest first. Throws ToolRefused for a repository that may not be changed now. */
  async add(entry: JournalEntry, context: ToolContext): Promise<RepositoryOutlook> {
    const kept = this.#readKept(entry);
    if (kept === undefined) return { kind: 'conflict', because: 'not-kept', names: [] };
    const opened = await this.#open(entry.path, kept.before, context);
    const valueOf = (name: string): string | undefined =>
      opened.names.has(name) ? opened.names.get(name)?.to : opened.snapshot.state[name];
    if (kept.after === undefined) {
      // It was cut off: nobody knows what it changed.
      const all = new Set([...Object.keys(kept.before.state), ...Object.keys(opened.snapshot.state)]);
      const names = [...all].flatMap((name) => compare(name, valueOf(name), { was: kept.before.state[name] }));
      return names.length === 0 ? { kind: 'unchanged' } : { kind: 'conflict', because: 'not-known', names };
    }
    const { changes } = kept.after;
    const conflicts = Object.entries(changes).flatMap(([name, change]) => compare(name, valueOf(name), change));
    if (conflicts.length > 0) return { kind: 'conflict', because: 'changed', names: conflicts };
    const left = Object.entries(changes).filter(([name, { was }]) => valueOf(name) !== was);
    if (left.length === 0) return { kind: 'unchanged' };
    const files = filesOf(kept.before);
    const index = readIndex(this.#trashFolder, entry.kept ?? '', kept.before);
    const pack = readPack(this.#trashFolder, entry.kept ?? '', kept.after);
    if (pack !== undefined) opened.packs.push(pack);
    const { needed } = kept.after;
    const isLost =
      ('index' in changes && changes['index']?.was !== undefined && index === undefined) ||
      (pack === undefined && (await findMissing(opened, needed)).length > 0);
    if (isLost) return { kind: 'conflict', because: 'not-kept', names: [] };
    for (const [name, { was }] of left) {
      const from = opened.snapshot.state[name];
      opened.names.set(name, {
        from,
        to: was,
        bytes: was === undefined ? undefined : name === 'index' ? index : files.get(name),
      });
    }
    return { kind: 'possible' };
  }

  /** One step for each repository in which something is restored. */
  steps(): ReadonlyMap<string, RepositoryStep> {
    const changing = [...this.#opened].filter(([, { names }]) => names.size > 0);
    return new Map(changing);
  }

  #readKept({
    before,
    after,
    kept = '',
  }: JournalEntry): { before: KeptBefore; after: KeptAfter | undefined } | undefined {
    if (before.kind !== 'repository') return undefined;
    const keptBefore = readBefore(this.#trashFolder, kept, before.sha256);
    if (keptBefore === undefined) return undefined;
    if (after.kind !== 'repository') return { before: keptBefore, after: undefined };
    // It changed nothing.
    if (after.sha256 === before.sha256) return { before: keptBefore, after: { changes: {}, needed: [] } };
    const keptAfter = readAfter(this.#trashFolder, kept, after.sha256);
    return keptAfter && { before: keptBefore, after: keptAfter };
  }

  async #open(top: string, { gitFolder, commonFolder }: KeptBefore, context: ToolContext): Promise<Opened> {
    const known = this.#opened.get(top);
    if (known !== undefined) return known;
    const repository = findRepository(top, 'write', context);
    if (repository.top !== top || repository.gitFolder !== gitFolder || repository.commonFolder !== commonFolder)
      throw new ToolRefused(refuse('UNSAFE_PATH', 'git-pointer', 'The folder has another repository now.'));
    const git = await GitSandbox.forReferences(repository, context);
    const opened: Opened = { git, snapshot: await read(git, context), names: new Map(), packs: [] };
    this.#opened.set(top, opened);
    return opened;
  }
}

async function read(git: GitSandbox, context: ToolContext): Promise<RepositorySnapshot> {
  try {
    return await readRepository(git, { hasIndex: true }, context);
  } catch (error) {
    if (error instanceof NotKept) {
      throw new ToolFailure('TOO_LARGE', context.redact(`The repository cannot be restored: ${error.message}.`));
    }
    throw error;
  }
}

function compare(
  name: string,
  now: string | undefined,
  change: { was?: string | undefined; became?: string },
): readonly NameConflict[] {
  return now === change.was || now === change.became ? [] : [{ name, now, from: change.became, to: change.was }];
}

function filesOf({ files }: KeptBefore): ReadonlyMap<string, Buffer> {
  return new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text, 'base64')]));
}

/** Objects that are not in the repository. */
async function findMissing({ git }: Opened, needed: readonly string[]): Promise<readonly string[]> {
  if (needed.length === 0) return [];
  const stdin = needed.map((id) => `${id}\n`).join('');
  const lines = (await git.text(['cat-file', '--batch-check=%(objectname)', '--buffer'], { stdin })).split('\n');
  return needed.filter((id, at) => lines[at] !== id);
}
