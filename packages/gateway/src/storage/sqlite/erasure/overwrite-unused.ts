import { fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';

/** Pages read in one go. */
const perRead = 256;
/** The header of the file comes before the header of its first page. */
const fileHeaderBytes = 100;
/**
 * First bytes of pages that hold cells, and the length of their headers. Other pages begin with the number of a page.
 */
const headerBytes = new Map([
  [2, 12],
  [5, 12],
  [10, 8],
  [13, 8],
]);
/** With more pages, the number of a page could look like the kind of one. */
const mostPages = 2 ** 25 - 1;

/**
 * Overwrites the unused parts of a SQLite file, page by page, as the file format describes them
 * (https://www.sqlite.org/fileformat2.html#b_tree_pages): rows that were moved leave copies of themselves there.
 * Nothing that SQLite reads changes, so it can be cut off at any moment and done again. Nobody may have the file open
 * for writing, and its journal must be empty. Returns how many bytes it has overwritten. Throws if the file is not as
 * described; what was overwritten until then was unused.
 */
export function overwriteUnused(file: string): number {
  // Never closed, because POSIX would release all locks that SQLite has on the file in this process. It is about to
  // end.
  const descriptor = openSync(file, 'r+');
  const pageBytes = readPageBytes(descriptor);
  const pages = Math.floor(fstatSync(descriptor).size / pageBytes);
  if (pages > mostPages) throw new RangeError('the database has too many pages');
  const block = Buffer.alloc(perRead * pageBytes);
  let overwritten = 0;
  for (let first = 0; first < pages; first += perRead) {
    const read = readSync(descriptor, block, 0, block.length, first * pageBytes);
    for (let at = 0; at + pageBytes <= read; at += pageBytes) {
      const page = block.subarray(at, at + pageBytes);
      for (const [from, to] of listUnused(page, first === 0 && at === 0 ? fileHeaderBytes : 0)) {
        if (isZero(page, from, to)) continue;
        writeSync(descriptor, Buffer.alloc(to - from), 0, to - from, first * pageBytes + at + from);
        overwritten += to - from;
      }
    }
  }
  fdatasyncSync(descriptor);
  return overwritten;
}

function readPageBytes(descriptor: number): number {
  const header = Buffer.alloc(fileHeaderBytes);
  readSync(descriptor, header, 0, header.length, 0);
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') throw new RangeError('this is not a SQLite database');
  const bytes = header.readUInt16BE(16);
  // Some tools keep a checksum at the end of each page; we do not.
  if (header[20] !== 0) throw new RangeError('pages of the database have reserved bytes');
  return bytes === 1 ? 65_536 : bytes;
}

/** The gap between pointers and cells, and the free blocks between cells, after their header of four bytes. */
function listUnused(page: Buffer, start: number): (readonly [from: number, to: number])[] {
  const header = headerBytes.get(page[start] as number);
  if (header === undefined) return [];
  const cells = page.readUInt16BE(start + 3);
  const content = page.readUInt16BE(start + 5) || 65_536;
  const pointersEnd = start + header + 2 * cells;
  if (content < pointersEnd || content > page.length) throw new RangeError('a page of the database is malformed');
  const unused: (readonly [number, number])[] = [[pointersEnd, content]];
  for (let at = page.readUInt16BE(start + 1), before = content - 1; at !== 0; at = page.readUInt16BE(at)) {
    const end = at + 4 <= page.length ? at + page.readUInt16BE(at + 2) : Infinity;
    if (at <= before || end > page.length || end < at + 4) throw new RangeError('a page of the database is malformed');
    unused.push([at + 4, end]);
    before = at;
  }
  return unused;
}

function isZero(page: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (page[at] !== 0) return false;
  return true;
}
