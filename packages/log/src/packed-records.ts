import { leafBytes } from './leaf.ts';
import { hashBytes } from './merkle.ts';

/**
 * Records one after the other in one block of bytes: a long log is read in half the time when there are no
 * objects for each of its parts. Each record is 0x00, leaf, 0x02, salt, payload in UTF-8, tag; without 0x02, salt and
 * payload once they were erased. The two bytes are those that the hashes of leaf and payload begin with. A record with
 * parts of another length or type cannot be written like this, and comes alone.
 */
export interface PackedRecords {
  readonly bytes: Buffer;
  /** How many bytes each record has. */
  readonly lengths: readonly number[];
  /** Which place in the log each one says it has. */
  readonly indexes: readonly number[];
}

export const hashedLeafBytes = 1 + leafBytes;
/** Of a record whose payload was erased. Others are longer. */
export const erasedRecordBytes = hashedLeafBytes + hashBytes;
