import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

const mostFiles = 200;
const mostEntries = 20_000;
const mostBytes = 8 * 1024 * 1024;
const longestLine = 1024 * 1024;

/** The newest transcripts below a folder, deepest as they may lie. Links are not followed. */
export function findTranscripts(folder: string, ending: RegExp): readonly string[] {
  const found: { readonly file: string; readonly changedMs: number }[] = [];
  let left = mostEntries;
  const look = (at: string, depth: number): void => {
    if (depth > 6 || left <= 0) return;
    let entries;
    try {
      entries = readdirSync(at, { withFileTypes: true });
    } catch {
      return;
    }
    for (const entry of entries) {
      if (left-- <= 0) return;
      const file = join(at, entry.name);
      if (entry.isDirectory()) look(file, depth + 1);
      else if (entry.isFile() && ending.test(entry.name)) found.push({ file, changedMs: lstatSync(file).mtimeMs });
    }
  };
  look(folder, 0);
  return found
    .sort((one, other) => other.changedMs - one.changedMs)
    .slice(0, mostFiles)
    .map(({ file }) => file);
}

/** The lines at the end of a file, without those that nobody would write. */
export function readLastLines(file: string): readonly string[] {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(descriptor);
    const from = Math.max(0, size - mostBytes);
    const bytes = Buffer.alloc(Math.min(size, mostBytes));
    const length = readSync(descriptor, bytes, 0, bytes.length, from);
    const lines = bytes.toString('utf8', 0, length).split('\n');
    return (from === 0 ? lines : lines.slice(1)).filter((line) => line !== '' && line.length <= longestLine);
  } catch {
    return [];
  } finally {
    closeSync(descriptor);
  }
}
