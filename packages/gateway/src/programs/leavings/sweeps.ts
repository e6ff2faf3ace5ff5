import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isWithin, hasCode } from '@sallyport/sandbox';
import type { SweepBook, SweepEntry, SweepNote, SweepWatch, Vouched } from '../../call/sweep.ts';
import { orAborted } from '../../call/cancellation.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import { readNotes, writeNote } from './sweep-notes.ts';
import type { NotesPlace, RejectedNote } from './sweep-notes.ts';

/** A sweep that a daemon before this one owes. */
export interface UnfinishedSweep {
  readonly note: SweepNote;
  readonly entry: SweepEntry;
  /** What came into being after this was not made by the programs: they ended with their daemon. */
  readonly endedByMs: number;
}

const aliveFile = 'alive';
const aliveEveryMs = 1000;
/** The daemon said that it is alive so often, and its programs outlive it by less. */
const marginMs = 5000;
/** After the gate wrote something. A call that writes a file into a new folder takes less. */
const soonMs = 1000;
/** The newest changes, at least this many. */
const mostChanges = 10_000;

/** The sweeps of this daemon, and those that one before it left undone. Absent place: nothing is kept, for tests. */
export class Sweeps implements SweepBook {
  readonly #place: NotesPlace | undefined;
  readonly #entries = new Set<Entry>();
  readonly #changes = new Changes();
  readonly #cleared = new Set<{ readonly folders: readonly string[]; readonly over: Promise<void> }>();
  #pulse: NodeJS.Timeout | undefined;

  constructor(place?: NotesPlace) {
    this.#place = place;
  }

  async settle(folders: readonly string[], { isStaying = false } = {}): Promise<void> {
    for (;;) {
      const underWay = [...this.#entries]
        .filter((entry) => isNear(folders, entry.roots))
        .flatMap((e) => e.sweeping ?? []);
      if (isStaying) underWay.push(...this.#findCleared(folders));
      if (underWay.length === 0) return;
      await Promise.allSettled(underWay);
    }
  }

  async clear(folders: readonly string[], signal: AbortSignal): Promise<Disposable> {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const cleared = { folders, over };
    this.#cleared.add(cleared);
    const dispose = (): void => {
      this.#cleared.delete(cleared);
      // Who looked at them before has to look again.
      for (const path of folders) this.#changes.add({ path, made: undefined, isCleared: true });
      end();
    };
    try {
      for (;;) {
        const staying = [...this.#entries].filter((entry) => entry.isStaying && isNear(folders, entry.roots));
        if (staying.length === 0) return { [Symbol.dispose]: dispose };
        for (const entry of staying) entry.outdate();
        await orAborted(Promise.all(staying.map(({ left }) => left)), signal);
      }
    } catch {
      dispose();
      throw new ToolRefused(
        refuse(
          'FOLDER_BUSY',
          'folder-cleared',
          'A server that may change the same folder is busy. Nothing was started.',
          {
            remedy: 'Send the call again when the calls of that server have ended.',
          },
        ),
      );
    }
  }

  #findCleared(folders: readonly string[]): readonly Promise<void>[] {
    return [...this.#cleared].filter((each) => isNear(folders, each.folders)).map(({ over }) => over);
  }

  position(): number {
    return this.#changes.position;
  }

  async enter(note: SweepNote, position: number, watch?: SweepWatch): Promise<SweepEntry> {
    const changes = this.#changes.since(position);
    const isCleared = changes?.some(({ path, isCleared: is }) => is === true && isNear([path], note.roots)) === true;
    const mustLookAgain = watch?.onOutdated !== undefined && (isCleared || this.#findCleared(note.roots).length > 0);
    if (changes === undefined || mustLookAgain) {
      throw new ToolFailure('EXECUTION_ERROR', 'The folders changed too fast to be looked at. Send the call again.');
    }
    const entry = this.#add(note, `${randomUUID()}.json`, watch);
    for (const change of changes) entry.learn(change);
    try {
      await this.#beat();
      await entry.write();
      return entry;
    } catch (error) {
      this.#entries.delete(entry);
      if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
      throw new ToolFailure('DISK_FULL', 'The gate has no space left for its own notes, so no program may run.');
    }
  }

  noteWritten(path: string, made: Vouched | undefined): Promise<void> {
    return this.#tell({ path, made }, [...this.#entries]);
  }

  noteStart({ writes, closed }: Parameters<SweepBook['noteStart']>[0]): void {
    const program = { roots: writes, closed: new Set(closed) };
    for (const entry of this.#entries) {
      if (leavesOpen(entry, program.closed) || leavesOpen(program, entry.closed)) entry.outdate();
    }
  }

  /**
   * What was entered and never finished, in no order, and what is not a note of this gate. To be called before anything
   * else is entered.
   */
  async listUnfinished(): Promise<{
    readonly unfinished: readonly UnfinishedSweep[];
    readonly rejected: readonly RejectedNote[];
  }> {
    if (this.#place === undefined) return { unfinished: [], rejected: [] };
    const aliveMs = statSync(join(this.#place.folder, aliveFile), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    const { found, rejected } = readNotes(this.#place);
    const unfinished = found.map(({ name, note: read }) => {
      // A note that is older than the last daemon says so itself: what people made since is theirs.
      const { endedByMs = aliveMs + marginMs } = read;
      const note = { ...read, ...(Number.isFinite(endedByMs) && { endedByMs }) };
      return { note, entry: this.#add(note, name), endedByMs };
    });
    // Should this daemon die as well, the next one must not take its time of death for that of the programs.
    await Promise.allSettled(unfinished.map(({ entry }) => entry.write()));
    return { unfinished, rejected };
  }

  #add(note: SweepNote, name: string, watch: SweepWatch = {}): Entry {
    const kept = this.#place === undefined ? undefined : { place: this.#place, name };
    const tellMoved = (path: string): Promise<void> => {
      const others = [...this.#entries].filter((other) => other !== entry);
      return this.#tell({ path, made: undefined }, others);
    };
    const entry = new Entry(note, { kept, tellMoved, leave: () => this.#entries.delete(entry), ...watch });
    this.#entries.add(entry);
    return entry;
  }

  async #tell(change: Change, entries: readonly Entry[]): Promise<void> {
    this.#changes.add(change);
    const concerned = entries.filter((entry) => entry.learn(change));
    for (const entry of concerned) entry.outdateSoon();
    // A note that cannot be written now, on a full disk, must not end the sweep: it is written with the next change.
    await Promise.allSettled(concerned.map((entry) => entry.write()));
  }

  async #beat(): Promise<void> {
    const folder = this.#place?.folder;
    if (folder === undefined || this.#pulse !== undefined) return;
    const file = join(folder, aliveFile);
    const beat = (): void => {
      if (this.#entries.size === 0) {
        clearInterval(this.#pulse);
        this.#pulse = undefined;
        return;
      }
      const now = new Date();
      utimes(file, now, now).catch(() => undefined);
    };
    this.#pulse = setInterval(beat, aliveEveryMs).unref();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(file, '', { mode: 0o600 });
  }
}

/** Something else is at this path than before. `made`: by the gate itself, for a call. */
interface Change {
  readonly path: string;
  readonly made: Vouched | undefined;
  /** Nobody who stays was there. Absent: it was not so. */
  readonly isCleared?: boolean;
}

/** What changed last, for those who looked at the folders before and will enter what they saw. */
class Changes {
  readonly #changes: Change[] = [];
  #dropped = 0;

  get position(): number {
    return this.#dropped + this.#changes.length;
  }

  add(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length <= 2 * mostChanges) return;
    this.#changes.splice(0, mostChanges);
    this.#dropped += mostChanges;
  }

  /** Undefined: it is too long ago. */
  since(position: number): readonly Change[] | undefined {
    return position < this.#dropped ? undefined : this.#changes.slice(position - this.#dropped);
  }
}

interface EntryParts extends SweepWatch {
  /** Absent: nothing is kept. */
  readonly kept: { readonly place: NotesPlace; readonly name: string } | undefined;
  readonly tellMoved: SweepEntry['tellMoved'];
  readonly leave: () => void;
}

class Entry implements SweepEntry {
  readonly note: SweepNote;
  readonly tellMoved: SweepEntry['tellMoved'];
  readonly #parts: EntryParts;
  readonly #known: Set<string>;
  readonly vouched: Map<string, Vouched>;
  #writing: Promise<void> = Promise.resolve();
  readonly #left = Promise.withResolvers<void>();
  #outdating: NodeJS.Timeout | undefined;
  #endedByMs: number | undefined;
  sweeping: Promise<unknown> | undefined;

  constructor(note: SweepNote, parts: EntryParts) {
    this.note = note;
    this.#parts = parts;
    this.tellMoved = parts.tellMoved;
    this.#known = new Set(note.known);
    this.vouched = new Map(Object.entries(note.vouched ?? {}));
    this.#endedByMs = note.endedByMs;
  }

  get roots(): readonly string[] {
    return this.note.roots;
  }

  get isStaying(): boolean {
    return this.#parts.onOutdated !== undefined;
  }

  get left(): Promise<void> {
    return this.#left.promise;
  }

  get closed(): ReadonlySet<string> {
    return this.#known;
  }

  knows(path: string): boolean {
    return this.#known.has(path);
  }

  /** Whether it makes a difference. What was known there is so no longer: nothing is mounted over what is new. */
  learn({ path, made }: Change): boolean {
    const root = rootAround(path, this.note.roots);
    if (root === undefined) return false;
    const forgotten = [...this.#known, ...this.vouched.keys()].filter((each) => isWithin(path, each));
    for (const each of forgotten) {
      this.#known.delete(each);
      this.vouched.delete(each);
    }
    const isNew = made !== undefined && !isInside(path, this.#known) && this.#parts.isForbidden?.(path, root) === true;
    if (isNew) this.vouched.set(path, made);
    return isNew || forgotten.length > 0;
  }

  outdate(): void {
    this.#parts.onOutdated?.();
  }

  /** What the gate is about to write beside it is not finished when the programs end at once. */
  outdateSoon(): void {
    this.#outdating ??= setTimeout(() => {
      this.#outdating = undefined;
      this.outdate();
    }, soonMs).unref();
  }

  during(sweeping: Promise<unknown>): void {
    this.sweeping = sweeping;
    const end = (): void => {
      if (this.sweeping === sweeping) this.sweeping = undefined;
    };
    sweeping.then(end, end);
  }

  async leave(how: 'finished' | 'unfinished'): Promise<void> {
    clearTimeout(this.#outdating);
    this.#parts.leave();
    this.#left.resolve();
    await this.#writing.catch(() => undefined);
    const { kept } = this.#parts;
    if (how === 'finished' && kept !== undefined) await rm(join(kept.place.folder, kept.name), { force: true });
    if (how === 'unfinished') {
      // The clock of files is finer: what was made in this millisecond was made before.
      this.#endedByMs ??= Date.now() + 1;
      // Without it, the note is taken to be as old as the daemon.
      await this.write().catch(() => undefined);
    }
  }

  /** Durable when it resolves; whole or not at all. */
  write(): Promise<void> {
    const { kept } = this.#parts;
    if (kept === undefined) return Promise.resolve();
    const write = (): Promise<void> => {
      const known = [...this.#known];
      const vouched = Object.fromEntries(this.vouched);
      const ended = this.#endedByMs === undefined ? {} : { endedByMs: this.#endedByMs };
      return writeNote(kept.place, kept.name, { ...this.note, known, vouched, ...ended });
    };
    this.#writing = this.#writing.catch(() => undefined).then(write);
    return this.#writing;
  }
}

/** Folders that a program may change, and what is closed to it there. */
interface Reach {
  readonly roots: readonly string[];
  readonly closed: ReadonlySet<string>;
}

/** Whether it could exchange one of these, which are closed to another. */
function leavesOpen({ roots, closed }: Reach, others: Iterable<string>): boolean {
  for (const path of others) if (rootAround(path, roots) !== undefined && !isInside(path, closed)) return true;
  return false;
}

function isNear(folders: readonly string[], others: readonly string[]): boolean {
  return folders.some((folder) => others.some((other) => isWithin(other, folder) || isWithin(folder, other)));
}

function rootAround(path: string, roots: readonly string[]): string | undefined {
  return roots.findLast((root) => root !== path && isWithin(root, path));
}

/** Whether it is one of them, or in one of them. */
function isInside(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path; at !== dirname(at); at = dirname(at)) if (folders.has(at)) return true;
  return false;
}
