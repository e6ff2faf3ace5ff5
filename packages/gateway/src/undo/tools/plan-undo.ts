import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { absent } from '../../call/journal.ts';
import type { EntryState } from '../../call/journal.ts';
import type { ToolContext } from '../../call/tool.ts';
import { isSameState } from '../../catalogue/files/tree/entry-state.ts';
import type { JournalEntry } from '../../storage/stores.ts';
import { ForeseenFiles } from './foreseen-files.ts';
import type { Place, Seen } from './foreseen-files.ts';
import { UndoneRepositories } from './undone-repositories.ts';
import type { NameConflict, RepositoryStep } from './undone-repositories.ts';

/** One path goes from one state back to another. */
export interface Step {
  readonly entry: JournalEntry;
  readonly path: string;
  readonly from: EntryState;
  readonly to: EntryState;
  /** The place of what is there now, when this step runs. Absent: nothing is there. */
  readonly present?: Place;
  /** Where the bytes of `to` are when this step runs, and where they are now. Absent: it has none. */
  readonly source?: Source;
  /** The name in the trash for what is taken away. Absent: any. */
  readonly keepAs?: string;
  /** What is restored in the repository at this path. Absent: the step is about a file, a link or a folder. */
  readonly repository?: RepositoryStep;
}

export interface Source {
  readonly inTurn: Place;
  readonly now: Place;
}

/** Why a change cannot be undone. */
export interface Conflict {
  readonly entry: JournalEntry;
  readonly because: 'changed' | 'not-kept' | 'no-folder' | 'not-known' | 'second-name';
  readonly now: Seen;
  /** What was there before, if it is still kept. */
  readonly source?: Source;
  /** What in a repository stands against it. Absent: it is about a file, a link or a folder. */
  readonly names?: readonly NameConflict[];
}

export interface UndoPlan {
  readonly steps: readonly Step[];
  /** They are as they were before the call. */
  readonly unchanged: readonly JournalEntry[];
  readonly conflicts: readonly Conflict[];
}

/** In whose name the files of an entry are opened: what may be written there, and where relative paths start. */
export type ContextFor = (entry: JournalEntry) => ToolContext;

/**
 * The steps that undo these entries, the newest first. Nothing has happened yet. Throws ToolRefused for a path that may
 * not be written now.
 */
export async function planUndo(
  entries: readonly JournalEntry[],
  trashFolder: string,
  contextFor: ContextFor,
): Promise<UndoPlan> {
  const files = new ForeseenFiles(trashFolder);
  const repositories = new UndoneRepositories(trashFolder);
  const newest = new Map<string, JournalEntry>();
  const steps: Step[] = [];
  const unchanged: JournalEntry[] = [];
  const conflicts: Conflict[] = [];
  for (const entry of entries.toSorted((a, b) => b.position - a.position)) {
    const { path, before, after } = entry;
    if (before.kind === 'repository') {
      const outlook = await repositories.add(entry, contextFor(entry));
      if (outlook.kind === 'conflict') {
        const { because, names } = outlook;
        conflicts.push({ entry, because, names, now: { state: { kind: 'unknown' } } });
      } else if (outlook.kind === 'unchanged') unchanged.push(entry);
      else newest.set(path, newest.get(path) ?? entry);
      continue;
    }
    const isWhole = before.kind === 'tree' || after.kind === 'tree';
    const now = await files.look(path, isWhole, contextFor(entry));
    const source = await findSource(entry, files, trashFolder, contextFor);
    const isLeft = isSameState(now.state, after) || (now.isAssumed === true && after.kind === 'tree');
    if (isLeft && !isExactly(now.state, before)) {
      const because = findObstacle(entry, source, files) ?? findSecondName(entry, now);
      if (because !== undefined) {
        conflicts.push({ entry, because, now });
        continue;
      }
      // A state that cannot be foreseen is compared when its step runs.
      const from = now.isAssumed === true ? after : now.state;
      const keepAs = nameTakenAway(entry, files);
      steps.push({
        ...{ entry, path, from, to: before },
        ...(now.at && { present: now.at }),
        ...(source && { source }),
        ...(keepAs === undefined ? {} : { keepAs }),
      });
      if (keepAs !== undefined) {
        files.putKept(keepAs, now.at);
        files.carry(path, join(trashFolder, keepAs));
      }
      files.put(path, { state: before, ...(source && { at: source.now }) });
      if (source?.inTurn.isTaken === true && entry.kept !== undefined) {
        files.putKept(entry.kept, undefined);
        files.carry(source.inTurn.path, path);
      }
    } else if (isSameState(now.state, before) || (before.kind === 'folder' && now.state.kind === 'tree')) {
      unchanged.push(entry);
    } else {
      const because = after.kind === 'unknown' ? 'not-known' : 'changed';
      conflicts.push({ entry, because, now, ...(source && { source }) });
    }
  }
  for (const [path, repository] of repositories.steps()) {
    const entry = newest.get(path);
    if (entry !== undefined) steps.push({ entry, path, from: entry.after, to: entry.before, repository });
  }
  return { steps, unchanged, conflicts };
}

function ownPlace(path: string): Place {
  return { in: 'workspace', path };
}

/** Compares the times too: the same content, written again, has other times. */
function isExactly(now: EntryState, before: EntryState): boolean {
  return isSameState(now, before) && (now.kind !== 'file' || before.kind !== 'file' || now.mtimeUs === before.mtimeUs);
}

/**
 * What came out of the trash goes back to where it was, so that the call which put it there can be undone once more.
 */
function nameTakenAway({ before, after, kept }: JournalEntry, files: ForeseenFiles): string | undefined {
  if (before.kind !== 'absent' || after.kind === 'folder' || kept === undefined) return undefined;
  return files.findKept(kept) === undefined ? kept : undefined;
}

/** Where the bytes of the state before are. Undefined: it has none, or they are gone. */
async function findSource(
  entry: JournalEntry,
  files: ForeseenFiles,
  trashFolder: string,
  contextFor: ContextFor,
): Promise<Source | undefined> {
  const { before, after, kept, movedTo } = entry;
  if (before.kind !== 'file' && before.kind !== 'tree') return undefined;
  if (movedTo !== undefined) {
    const { state, at: now } = await files.look(movedTo, false, contextFor(entry));
    return now !== undefined && isSameState(state, before) ? { inTurn: ownPlace(movedTo), now } : undefined;
  }
  const now = kept === undefined ? undefined : files.findKept(kept);
  if (now === undefined || kept === undefined) return undefined;
  const stats = lstatSync(now.path, { throwIfNoEntry: false });
  const isThere = before.kind === 'tree' ? stats?.isDirectory() : stats?.isFile() && stats.size === before.sizeBytes;
  if (isThere !== true) return undefined;
  // What was deleted is itself in the trash, and comes back from there; of what was replaced there is a copy.
  const isTaken = after.kind === 'absent';
  return { inTurn: { in: 'trash', path: join(trashFolder, kept), isTaken }, now: { ...now, isTaken } };
}

/** A file that is written into must not have a second name, which may be elsewhere. */
function findSecondName({ before, after }: JournalEntry, { at }: Seen): Conflict['because'] | undefined {
  if (before.kind !== 'file' || after.kind !== 'file' || at?.in !== 'workspace') return undefined;
  return (lstatSync(at.path, { throwIfNoEntry: false })?.nlink ?? 1) > 1 ? 'second-name' : undefined;
}

function findObstacle(
  { path, before, movedTo }: JournalEntry,
  source: Source | undefined,
  files: ForeseenFiles,
): Conflict['because'] | undefined {
  if ((before.kind === 'file' || before.kind === 'tree') && source === undefined)
    return movedTo === undefined ? 'not-kept' : 'changed';
  if (before.kind !== absent.kind && !files.isFolder(dirname(path))) return 'no-folder';
  return undefined;
}
