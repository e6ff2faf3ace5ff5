/** The lines of a file that change, with a few around them; or all of it. */
export interface Change {
  readonly before: Buffer;
  readonly after: Buffer;
  /** How many lines stand before both. */
  readonly linesBefore: number;
}

const newline = 10;
/** How many unchanged lines are kept on both sides. A diff shows three of them. */
const linesAround = 4;
const pieceBytes = 64 * 1024;
/** Smaller files are compared as they are. */
const smallBytes = 256 * 1024;

/** Leaves out what two contents have in common at both ends, so that a small change in a large file is a small one. */
export function findChange(before: Buffer, after: Buffer): Change {
  if (before.length + after.length <= smallBytes) return { before, after, linesBefore: 0 };
  const head = commonHead(before, after);
  const tail = commonTail(before.subarray(head), after.subarray(head));
  return cutAround(before, { start: head, end: before.length - tail }, after.subarray(head, after.length - tail));
}

/** The change that replaces a part of a file. */
export function cutAround(
  before: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
  replacement: Buffer,
): Change {
  const from = linesBack(before, start);
  const to = linesOn(before, end);
  return {
    before: before.subarray(from, to),
    after: Buffer.concat([before.subarray(from, start), replacement, before.subarray(end, to)]),
    linesBefore: countLines(before.subarray(0, from)),
  };
}

export function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count++;
  return count;
}

function commonHead(one: Buffer, other: Buffer): number {
  const shorter = Math.min(one.length, other.length);
  let at = 0;
  while (at + pieceBytes <= shorter && one.subarray(at, at + pieceBytes).equals(other.subarray(at, at + pieceBytes))) {
    at += pieceBytes;
  }
  while (at < shorter && one[at] === other[at]) at++;
  return at;
}

function commonTail(one: Buffer, other: Buffer): number {
  const shorter = Math.min(one.length, other.length);
  const piece = (bytes: Buffer, at: number): Buffer =>
    bytes.subarray(bytes.length - at - pieceBytes, bytes.length - at);
  let at = 0;
  while (at + pieceBytes <= shorter && piece(one, at).equals(piece(other, at))) at += pieceBytes;
  while (at < shorter && one[one.length - 1 - at] === other[other.length - 1 - at]) at++;
  return at;
}

/** Where the lines begin that stand before a place. */
function linesBack(bytes: Buffer, place: number): number {
  let at = lineStart(bytes, place);
  for (let lines = 0; lines < linesAround && at > 0; lines++) at = lineStart(bytes, at - 1);
  return at;
}

/** The beginning of the line in which a place is. */
function lineStart(bytes: Buffer, place: number): number {
  return place === 0 ? 0 : bytes.lastIndexOf(newline, place - 1) + 1;
}

/** Where the lines end that stand behind a place. */
function linesOn(bytes: Buffer, place: number): number {
  let at = place;
  for (let lines = 0; lines <= linesAround && at < bytes.length; lines++) {
    const end = bytes.indexOf(newline, at);
    at = end === -1 ? bytes.length : end + 1;
  }
  return at;
}
