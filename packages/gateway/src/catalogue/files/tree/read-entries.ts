import { opendirSync } from 'node:fs';
import { sortNaturally } from '@sallyport/contract';
import type { Dirent } from 'node:fs';
import type { OpenFolder } from '../../../paths/open-path.ts';
import { takeBreaks } from '../check-signal.ts';

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

export interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** The entries of a folder by name. `cut`: it has more than `maxEntries`, and which were left out is chance. */
export async function readEntries(
  folder: OpenFolder,
  options: { readonly maxEntries: number; readonly signal: AbortSignal },
): Promise<{ readonly entries: readonly Entry[]; readonly cut: boolean }> {
  const takeBreak = takeBreaks(options.signal);
  const entries: Entry[] = [];
  using directory = opendirSync(folder.path, { bufferSize: 128 });
  for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
    if (entries.length === options.maxEntries) return { entries: sorted(entries), cut: true };
    entries.push({ name: entry.name, kind: kindOf(entry) });
    await takeBreak();
  }
  return { entries: sorted(entries), cut: false };
}

export function kindOf(entry: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

/** As people count, and otherwise by code unit: the same order everywhere, whatever the language of the machine. */
function sorted(entries: readonly Entry[]): readonly Entry[] {
  return sortNaturally(entries, ({ name }) => name);
}
