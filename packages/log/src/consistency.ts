import { isSignedBy } from './checkpoint.ts';
import { proveConsistency, verifyConsistency } from './merkle-proof.ts';
import type { NodeReader } from './merkle-proof.ts';
import {
  changedNote,
  CheckpointError,
  decodeBase64,
  parsePublicKey,
  readCheckpointBody,
  readNote,
  signaturesOf,
} from './note.ts';
import type { Checkpoint, ParsedKey } from './note.ts';

export const consistencyFormat = 'sallyport-consistency-1';
const longestProof = 64;

/** Shows that a later checkpoint continues an earlier one: no record before it was changed or removed. */
export interface ConsistencyFile {
  readonly format: typeof consistencyFormat;
  readonly old: string;
  readonly new: string;
  /** Base64, in the order of RFC 6962. */
  readonly proof: readonly string[];
  /** The public key that the file names. Compare it with one that you know from elsewhere. */
  readonly verifier: string;
}

export interface ConsistencyReport {
  readonly intact: boolean;
  /** Why it is not. */
  readonly problem?: string;
  readonly key: string;
  readonly isKnownKey: boolean;
  readonly oldSize: number;
  readonly size: number;
}

export interface ConsistencyParts {
  readonly oldNote: string;
  readonly note: string;
  readonly verifier: string;
  readonly readNode: NodeReader;
}

/** The text of the file. Throws CheckpointError when a note is not signed by this key. */
export function writeConsistency({ oldNote, note, verifier, readNode }: ConsistencyParts): string {
  const key = parsePublicKey(verifier);
  const [old, grown] = [openNote(oldNote, key), openNote(note, key)];
  const proof = proveConsistency(old.size, grown.size, readNode).map((hash) => Buffer.from(hash).toString('base64'));
  const file: ConsistencyFile = { format: consistencyFormat, old: oldNote, new: note, proof, verifier };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/**
 * `verifier`: the public key from elsewhere; absent, that of the file is used. `kept`: the checkpoint that somebody
 * kept; absent, that of the file is used. Throws CheckpointError when the file is not such a proof.
 */
export function verifyConsistencyFile(
  text: string,
  { verifier, kept }: { readonly verifier?: string | undefined; readonly kept?: string | undefined } = {},
): ConsistencyReport {
  const file = parseFile(text);
  const key = parsePublicKey(verifier ?? file.verifier);
  const [old, grown] = [openNote(kept ?? file.old, key), openNote(file.new, key)];
  const proof = file.proof.map((hash) => decodeBase64(hash) ?? Buffer.alloc(0));
  const claim = { oldSize: old.size, oldRoot: old.root, size: grown.size, root: grown.root, proof };
  const intact = verifyConsistency(claim);
  return {
    intact,
    ...(intact ? {} : { problem: describeMisfit(old, grown, openNote(file.old, key)) }),
    key: (verifier ?? file.verifier).trim(),
    isKnownKey: verifier !== undefined,
    oldSize: old.size,
    size: grown.size,
  };
}

function describeMisfit(old: Checkpoint, grown: Checkpoint, named: Checkpoint): string {
  if (old.size !== named.size)
    return `The proof starts at ${named.size} records, and the kept checkpoint has ${old.size}.`;
  return `The log of ${grown.size} records does not continue the one of ${old.size}: its beginning was rewritten.`;
}

function openNote(text: string, key: ParsedKey): Checkpoint {
  const note = readNote(text);
  for (const signature of signaturesOf(note, key)) {
    if (!isSignedBy(key, Buffer.from(note.body), signature)) throw changedNote(key);
  }
  const checkpoint = readCheckpointBody(note.body);
  if (checkpoint.origin !== key.name)
    throw new CheckpointError(`the checkpoint is of another log: ${checkpoint.origin}`);
  return checkpoint;
}

function parseFile(text: string): ConsistencyFile {
  const value: unknown = JSON.parse(text);
  const { format, old, new: grown, proof, verifier } = (value ?? {}) as Partial<Record<keyof ConsistencyFile, unknown>>;
  const isWhole =
    format === consistencyFormat &&
    [old, grown, verifier].every((part) => typeof part === 'string') &&
    Array.isArray(proof) &&
    proof.length <= longestProof &&
    proof.every((hash) => typeof hash === 'string');
  if (!isWhole) throw new CheckpointError('this is not a proof of consistency');
  return value as ConsistencyFile;
}
