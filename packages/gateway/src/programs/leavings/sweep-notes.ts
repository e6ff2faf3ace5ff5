import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { SweepNote } from '../../call/sweep.ts';
import { hasCode } from '@sallyport/sandbox';

/** Where sweeps are noted, and the key that shows that the gate wrote the notes. The key is kept elsewhere. */
export interface NotesPlace {
  readonly folder: string;
  readonly key: string;
}

/** Something in the folder that the gate did not write. */
export interface RejectedNote {
  readonly name: string;
  readonly reason: string;
  /** Absent: it could not be renamed, and is where it was. */
  readonly keptAs?: string;
}

interface FoundNote {
  readonly name: string;
  readonly note: SweepNote;
}

/** More than any note has: folders with more to remember are not shown to programs. */
const maxNoteBytes = 1024 ** 3;

/** Durable when it resolves; whole or not at all. */
export async function writeNote({ folder, key }: NotesPlace, name: string, note: SweepNote): Promise<void> {
  const file = join(folder, name);
  const handle = await open(`${file}.new`, 'w', 0o600);
  try {
    await handle.writeFile(JSON.stringify({ note, tag: tagOf(key, name, note) }));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}

/** A forged note could make the daemon rename files, so notes that it did not write itself are moved away. */
export function readNotes({ folder, key }: NotesPlace): {
  readonly found: readonly FoundNote[];
  readonly rejected: readonly RejectedNote[];
} {
  const found: FoundNote[] = [];
  const rejected: RejectedNote[] = [];
  for (const name of listNotes(folder)) {
    const note = readNote(folder, name, key);
    if (typeof note !== 'string') found.push({ name, note });
    else rejected.push({ name, reason: note, ...moveAway(folder, name) });
  }
  return { found, rejected };
}

function listNotes(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** A text says why it is no note of ours. */
function readNote(folder: string, name: string, key: string): SweepNote | string {
  try {
    const { note, tag } = JSON.parse(readPlainFile(join(folder, name))) as { note?: unknown; tag?: unknown };
    const [given, expected] = [Buffer.from(String(tag)), Buffer.from(tagOf(key, name, note))];
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    return isOurs ? (note as SweepNote) : 'It was made or changed by something other than this gate.';
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return 'It is damaged.';
    return `It cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`;
  }
}

/** Neither follows a link nor waits for somebody to write. */
function readPlainFile(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > maxNoteBytes) throw new TypeError('not a note');
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function moveAway(folder: string, name: string): Pick<RejectedNote, 'keptAs'> {
  const keptAs = `${name}.rejected-${Date.now()}`;
  try {
    renameSync(join(folder, name), join(folder, keptAs));
    return { keptAs };
  } catch {
    return {};
  }
}

/** With its name, so that no note can stand for another. */
function tagOf(key: string, name: string, note: unknown): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['sweep note v1', name, note]))
    .digest('hex');
}
