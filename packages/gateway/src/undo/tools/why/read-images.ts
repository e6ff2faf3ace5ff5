import { hash } from 'node:crypto';
import { readFileSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { EntryState } from '../../../call/journal.ts';
import type { JournalEntry } from '../../../storage/stores.ts';
import type { Image } from './attribute-lines.ts';

const mostBytes = 4 * 1024 * 1024;

/** What is in a file now. */
export type Present =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly sha256: string; readonly text?: string };

/** Bytes as text. Undefined: they are not text, or too many. */
export function asText(bytes: Buffer): string | undefined {
  if (bytes.length > mostBytes || bytes.includes(0)) return undefined;
  return bytes.toString('utf8');
}

/**
 * The file before the first of these changes, after each of them, and now. What a call left is known from what the next
 * call found, or from the file itself; where the hashes differ, something else changed it in between.
 */
export function readImages(entries: readonly JournalEntry[], now: Present, trashFolder: string): readonly Image[] {
  const [first] = entries;
  if (first === undefined) return [];
  const images: Image[] = [{ text: textBefore(first, trashFolder), by: undefined }];
  for (const [at, entry] of entries.entries()) {
    const next = entries[at + 1];
    const found = next === undefined ? shaOfPresent(now) : shaOf(next.before);
    const text = next === undefined ? textOfPresent(now) : textBefore(next, trashFolder);
    // What the call wrote and what something else changed later cannot be told apart.
    images.push({ text, by: found !== undefined && found === shaOf(entry.after) ? entry : undefined });
  }
  return images;
}

/** Undefined: it is not known. A missing file has its own hash. */
export function shaOf(state: EntryState): string | undefined {
  if (state.kind === 'absent') return 'absent';
  return state.kind === 'file' ? state.sha256 : undefined;
}

export function shaOfPresent(now: Present): string {
  return now.kind === 'absent' ? 'absent' : now.sha256;
}

function textOfPresent(now: Present): string | undefined {
  return now.kind === 'absent' ? '' : now.text;
}

function textBefore({ before, kept, movedTo }: JournalEntry, trashFolder: string): string | undefined {
  if (before.kind === 'absent') return '';
  if (before.kind !== 'file' || kept === undefined || movedTo !== undefined || before.sizeBytes > mostBytes)
    return undefined;
  const path = join(trashFolder, kept);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const bytes = readFileSync(path);
  return hash('sha256', bytes) === before.sha256 ? asText(bytes) : undefined;
}
