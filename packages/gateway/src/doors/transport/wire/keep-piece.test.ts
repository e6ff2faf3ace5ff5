import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { keepPiece, ownPiece } from './keep-piece.ts';

/** As a socket gives it: a part of all that was read at once. */
function partOf(bytes: Buffer, readBytes = 65_536): Buffer {
  const read = Buffer.allocUnsafeSlow(readBytes);
  bytes.copy(read, 100);
  return read.subarray(100, 100 + bytes.length);
}

function heldBytes(pieces: readonly Buffer[]): number {
  return [...new Set(pieces.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

describe('keepPiece', () => {
  it('keeps single bytes in a few pieces, and not what they were read with', () => {
    const pieces: Buffer[] = [];
    for (let n = 0; n < 20_000; n++) keepPiece(pieces, partOf(Buffer.from([n & 0xff])));
    assert.ok(pieces.length < 20, `${pieces.length} pieces`);
    assert.ok(heldBytes(pieces) < 25_000, `${heldBytes(pieces)} bytes`);
  });

  it('keeps the bytes in their order, whatever the pieces', () => {
    for (let round = 0; round < 50; round++) {
      const sent = Array.from({ length: randomInt(1, 60) }, (_, n) => Buffer.alloc(2 ** randomInt(17) - 1, n));
      const pieces: Buffer[] = [];
      for (const piece of sent) keepPiece(pieces, partOf(piece, 2 ** 18));
      assert.ok(Buffer.concat(pieces).equals(Buffer.concat(sent)));
      assert.ok(heldBytes(pieces) <= 2 * Buffer.concat(sent).length);
    }
  });

  it('takes a piece that is most of what was read as it is', () => {
    const piece = partOf(Buffer.alloc(60_000, 1));
    assert.equal(ownPiece(piece), piece);
  });
});
