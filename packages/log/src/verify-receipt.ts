import { cosignaturesOf } from './cosigned-message.ts';
import { decodeLeaf, isLeafOf } from './leaf.ts';
import { hashLeaf } from './merkle.ts';
import { verifyInclusion } from './merkle-proof.ts';
import {
  changedNote,
  CheckpointError,
  keyTypes,
  parsePublicKey,
  readCheckpointBody,
  readNote,
  signaturesOf,
} from './note.ts';
import type { Checkpoint, ParsedKey, ReadNote } from './note.ts';
import { describeDecision } from './receipt-decision.ts';
import type { ReceiptDecision } from './receipt-decision.ts';
import { parseReceipt } from './receipt.ts';
import type { Receipt, ReceiptRecord } from './receipt.ts';
import type { RecordFacts } from './record.ts';
import { covers, parseRemoval } from './removals.ts';

// The verdict on a receipt. The page that checks receipts in a browser is built from this file, so nothing here needs
// more of Node than its hash and its buffers.

/** Ed25519. Browsers answer later. */
export type CheckSignature = (
  key: Pick<ParsedKey, 'bytes'>,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>;

export interface ReceiptOptions {
  readonly checkSignature: CheckSignature;
  /** The public key of the log, from elsewhere. Absent: the receipt's own key is used, which proves little. */
  readonly verifier?: string | undefined;
  /** Public keys of witnesses that must have cosigned. */
  readonly witnesses?: readonly string[];
}

/** What a receipt shows. Only an intact one is worth reading further. */
export interface ReceiptReport {
  readonly intact: boolean;
  /** What is wrong, one sentence each. */
  readonly problems: readonly string[];
  readonly key: string;
  /** The key came from elsewhere, not from the receipt. */
  readonly isKnownKey: boolean;
  /** Absent: the checkpoint could not be read. */
  readonly origin?: string;
  readonly checkpointSize?: number;
  readonly witnesses: readonly SeenByWitness[];
  /** Names of signers whose keys were not given: they prove nothing here. */
  readonly unknownSigners: readonly string[];
  readonly call?: string;
  readonly decision: ReceiptDecision | null;
  readonly records: readonly ShownRecord[];
}

export interface SeenByWitness {
  readonly name: string;
  readonly timeS: number;
}

export interface ShownRecord extends RecordFacts {
  readonly index: number;
  /** Absent: the content was erased, or was left out. */
  readonly payload?: string;
  /** The record that says that the content was erased. Absent: none in the receipt does. */
  readonly erasedBy?: number;
}

/** Throws ReceiptError when the text is not a receipt, and CheckpointError when a key that was given is not a key. */
export async function verifyReceipt(text: string, options: ReceiptOptions): Promise<ReceiptReport> {
  const receipt = parseReceipt(text);
  const known = options.verifier === undefined ? undefined : parsePublicKey(options.verifier);
  const witnessKeys = (options.witnesses ?? []).map((key) => parsePublicKey(key, keyTypes.cosignature));
  const key = options.verifier?.trim() ?? receipt.verifier;
  const problems: string[] = [];
  const opened = await attempt(problems, () => openNote(receipt, known, options.checkSignature));
  const witnesses: SeenByWitness[] = [];
  for (const witness of opened === undefined ? [] : witnessKeys) {
    const seen = await findCosignature(opened?.note as ReadNote, witness, options.checkSignature);
    if (seen === undefined) problems.push(`The witness ${witness.name} has not cosigned the checkpoint.`);
    else witnesses.push(seen);
  }
  const { checkpoint } = opened ?? {};
  const shown = receipt.records.flatMap((record) => judgeRecord(record, checkpoint, problems));
  for (const { index, callId } of shown) {
    if (callId !== receipt.call) problems.push(`Record ${index} belongs to another call.`);
  }
  const erasures = (receipt.erasures ?? []).flatMap((record) => judgeRecord(record, checkpoint, problems));
  const records = shown.map((record) => tellErasure(record, erasures));
  for (const { index } of erasures) {
    if (!records.some(({ erasedBy }) => erasedBy === index)) problems.push(`Record ${index} erased nothing of this.`);
  }
  if (!isSameDecision(receipt)) problems.push('The decision in the receipt is not the one in its records.');
  const knownNames = [opened?.checkpoint.origin, ...witnessKeys.map(({ name }) => name)];
  const signers = new Set(opened?.note.signatures.map(({ name }) => name));
  return {
    intact: problems.length === 0,
    problems,
    key,
    isKnownKey: known !== undefined,
    ...(opened === undefined ? {} : { origin: opened.checkpoint.origin, checkpointSize: opened.checkpoint.size }),
    witnesses,
    unknownSigners: [...signers].filter((name) => !knownNames.includes(name)),
    ...(receipt.call === undefined ? {} : { call: receipt.call }),
    decision: receipt.decision,
    records,
  };
}

async function openNote(receipt: Receipt, known: ParsedKey | undefined, checkSignature: CheckSignature) {
  const key = known ?? parsePublicKey(receipt.verifier);
  const note = readNote(receipt.checkpoint);
  for (const signature of signaturesOf(note, key)) {
    if (!(await checkSignature(key, Buffer.from(note.body), signature))) throw changedNote(key);
  }
  const checkpoint = readCheckpointBody(note.body);
  if (checkpoint.origin !== key.name)
    throw new CheckpointError(`the checkpoint is of another log: ${checkpoint.origin}`);
  return { note, checkpoint };
}

async function findCosignature(
  note: ReadNote,
  witness: ParsedKey,
  checkSignature: CheckSignature,
): Promise<SeenByWitness | undefined> {
  for (const { timeS, message, signature } of cosignaturesOf(note, witness)) {
    if (await checkSignature(witness, message, signature)) return { name: witness.name, timeS };
  }
  return undefined;
}

/** With the first of the events that says that its content was erased. */
function tellErasure(record: ShownRecord, erasures: readonly ShownRecord[]): ShownRecord {
  if (record.payload !== undefined) return record;
  const told = erasures.find(({ kind, index, payload = '' }) => {
    const removal = kind === 'event' ? parseRemoval(payload, index) : undefined;
    return removal?.kind === 'erased' && covers(removal, record.index);
  });
  return told === undefined ? record : { ...record, erasedBy: told.index };
}

function judgeRecord(record: ReceiptRecord, checkpoint: Checkpoint | undefined, problems: string[]): ShownRecord[] {
  const { index, payload } = record;
  const leaf = Buffer.from(record.leaf, 'base64');
  const facts = readLeaf(leaf);
  if (facts === undefined) {
    problems.push(`Record ${index} has a leaf that the gate does not write.`);
    return [];
  }
  const { commitment: _, ...shown } = facts;
  if (payload !== undefined && !isContentOf(leaf, record.salt ?? '', payload)) {
    problems.push(`The content of record ${index} was changed.`);
  }
  const proof = record.proof.map((hash) => Buffer.from(hash, 'base64'));
  const isIncluded =
    checkpoint !== undefined &&
    verifyInclusion({ index, leafHash: hashLeaf(leaf), size: checkpoint.size, root: checkpoint.root, proof });
  if (checkpoint !== undefined && !isIncluded) problems.push(`Record ${index} is not in the log of the checkpoint.`);
  return [{ index, ...shown, ...(payload === undefined ? {} : { payload }) }];
}

function readLeaf(leaf: Uint8Array): ReturnType<typeof decodeLeaf> | undefined {
  try {
    return decodeLeaf(leaf);
  } catch {
    return undefined;
  }
}

function isContentOf(leaf: Uint8Array, salt: string, payload: string): boolean {
  try {
    return isLeafOf(leaf, Buffer.from(salt, 'base64'), payload);
  } catch {
    return false;
  }
}

/** People and programs read it, so it must say what the records say, in the same order. */
function isSameDecision({ decision, records }: Receipt): boolean {
  try {
    const decoded = records.map(({ leaf, payload }) => ({
      leaf: Buffer.from(leaf, 'base64'),
      ...(payload === undefined ? {} : { payload }),
    }));
    return JSON.stringify(describeDecision(decoded)) === JSON.stringify(decision);
  } catch {
    return false;
  }
}

async function attempt<Value>(problems: string[], read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    problems.push(`The checkpoint cannot be believed: ${error.message}.`);
    return undefined;
  }
}
