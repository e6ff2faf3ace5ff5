/** So much memory may be kept for a piece, however short it is. */
const harmlessBytes = 4096;
/** Pieces of this size are not worth joining. */
const largeBytes = 16 * 1024;

/**
 * Adds a piece to those that wait for more to come. Each piece costs far more than a byte, so short ones are joined: each
 * is at least twice as long as the next, so that no byte is copied often.
 */
export function keepPiece(pieces: Buffer[], piece: Buffer): void {
  let last = ownPiece(piece);
  for (let before = pieces.at(-1); before !== undefined; before = pieces.at(-1)) {
    if (before.length >= Math.min(largeBytes, 2 * last.length)) break;
    pieces.pop();
    last = copyOf(before, last);
  }
  pieces.push(last);
}

/**
 * The same bytes, without the rest of the memory that they were read into: one byte can hold 64 KB. The
 * sender has to send those as well, but they can be frames that count toward no limit.
 */
export function ownPiece(piece: Buffer): Buffer {
  const { byteLength } = piece.buffer;
  return byteLength <= harmlessBytes || byteLength <= 2 * piece.length ? piece : copyOf(piece);
}

/** Not in the memory that Node shares out to short buffers: that would be held, too. */
function copyOf(...pieces: readonly Buffer[]): Buffer {
  let size = 0;
  for (const { length } of pieces) size += length;
  const copy = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const piece of pieces) {
    copy.set(piece, at);
    at += piece.length;
  }
  return copy;
}
