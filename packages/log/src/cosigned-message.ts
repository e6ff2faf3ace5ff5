import type { ParsedKey, ReadNote } from './note.ts';

// Cosignatures of witnesses as C2SP defines them (tlog-cosignature), with Ed25519.
const timestampBytes = 8;
const signatureBytes = 64;

export interface Cosignature {
  /** When the witness signed, by its own clock, in seconds since 1970. */
  readonly timeS: number;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** What a witness signs: the time, and all of the checkpoint without its signatures. */
export function cosignedMessage(body: string, timeS: number): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${timeS}\n${body}`);
}

export function writeTimestamp(timeS: number): Buffer {
  const bytes = Buffer.alloc(timestampBytes);
  bytes.writeBigUInt64BE(BigInt(timeS));
  return bytes;
}

/** The signatures in the note that name this witness, to be checked with its key. */
export function cosignaturesOf(note: ReadNote, witness: Pick<ParsedKey, 'name' | 'keyId'>): readonly Cosignature[] {
  return note.signatures
    .filter(({ name, keyId }) => name === witness.name && keyId.equals(witness.keyId))
    .map(({ signature }) => {
      // A signature of another form is kept, so that it fails instead of being skipped.
      const isWhole = signature.length === timestampBytes + signatureBytes;
      const timeS = isWhole ? Number(signature.readBigUInt64BE(0)) : 0;
      return {
        timeS,
        message: cosignedMessage(note.body, timeS),
        signature: isWhole && Number.isSafeInteger(timeS) ? signature.subarray(timestampBytes) : Buffer.alloc(0),
      };
    });
}
