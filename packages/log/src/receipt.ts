import { proveInclusion } from './merkle-proof.ts';
import type { NodeReader } from './merkle-proof.ts';
import { decodeBase64 } from './note.ts';
import type { StoredRecord } from './record.ts';
import { describeDecision } from './receipt-decision.ts';
import type { ReceiptDecision } from './receipt-decision.ts';

export const receiptFormat = 'sallyport-receipt-1';
/** A record stays below 64 KB, and a call has few of them. */
const mostCharacters = 16 * 1024 * 1024;
const mostRecords = 1000;
const longestProof = 64;

/** One call, or one record, with all that shows it to be in the log. Bytes are in base64. */
export interface Receipt {
  readonly format: typeof receiptFormat;
  /** Absent: it is about a record that belongs to no call. */
  readonly call?: string;
  /** What the records say was decided. Null: they are about no decision, or their content is not here. */
  readonly decision: ReceiptDecision | null;
  /** Kept for the signature of the person who approved the call. This version neither makes nor checks one. */
  readonly approver_signature: null;
  readonly records: readonly ReceiptRecord[];
  /** Events by which the gate says that it erased the content of records above. Absent: it erased none. */
  readonly erasures?: readonly ReceiptRecord[];
  /** The signed note, with the lines of witnesses. */
  readonly checkpoint: string;
  /** The public key that the file names. Compare it with one that you know from elsewhere. */
  readonly verifier: string;
}

export interface ReceiptRecord {
  readonly index: number;
  readonly leaf: string;
  /** Absent together with the payload: the content was erased, which an erasure shows, or was left out. */
  readonly salt?: string;
  readonly payload?: string;
  /** The audit path of RFC 6962 in the tree of the checkpoint. */
  readonly proof: readonly string[];
}

/** The file is not a receipt, or one that this version cannot judge. The message is for the person who verifies. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
}

export interface ReceiptParts {
  readonly call?: string;
  readonly records: readonly Omit<StoredRecord, 'tag'>[];
  /** Events that record the erasure of their payloads. */
  readonly erasures?: readonly Omit<StoredRecord, 'tag'>[];
  /** Over `size` records, of which those of the receipt are some. */
  readonly checkpoint: string;
  readonly size: number;
  readonly verifier: string;
  readonly readNode: NodeReader;
}

/** The text of a receipt. Nothing is verified here: call `verifyReceipt` before you give it to anybody. */
export function writeReceipt(parts: ReceiptParts): string {
  const { call, records, erasures = [], checkpoint, size, verifier, readNode } = parts;
  const prove = ({ index, leaf, salt, payload }: Omit<StoredRecord, 'tag'>): ReceiptRecord => ({
    index,
    leaf: encode(leaf),
    ...(salt === undefined || payload === undefined ? {} : { salt: encode(salt), payload }),
    proof: proveInclusion(index, size, readNode).map(encode),
  });
  const receipt: Receipt = {
    format: receiptFormat,
    ...(call === undefined ? {} : { call }),
    decision: describeDecision(records),
    approver_signature: null,
    records: records.map(prove),
    ...(erasures.length === 0 ? {} : { erasures: erasures.map(prove) }),
    checkpoint,
    verifier,
  };
  return `${JSON.stringify(receipt, undefined, 2)}\n`;
}

/** Throws ReceiptError unless every part is there, in its form. Nothing is verified. */
export function parseReceipt(text: string): Receipt {
  if (text.length > mostCharacters) throw new ReceiptError('The file is too long for a receipt.');
  const receipt = parseObject(text);
  if (receipt['format'] !== receiptFormat) throw new ReceiptError('The file is not a receipt of this version.');
  const { call, decision, approver_signature: signature, records, erasures = [], checkpoint, verifier } = receipt;
  if (signature !== null) {
    throw new ReceiptError('The receipt carries the signature of an approver, which this version cannot check.');
  }
  const isWhole =
    (call === undefined || typeof call === 'string') &&
    typeof decision === 'object' &&
    typeof checkpoint === 'string' &&
    typeof verifier === 'string' &&
    Array.isArray(records) &&
    records.length > 0 &&
    records.length <= mostRecords &&
    Array.isArray(erasures) &&
    erasures.length <= mostRecords;
  if (!isWhole) throw new ReceiptError('A part of the receipt is missing or has another form.');
  return { ...receipt, records: records.map(parseRecord), erasures: erasures.map(parseRecord) } as unknown as Receipt;
}

function parseRecord(record: unknown): ReceiptRecord {
  const { index, leaf, salt, payload, proof } = (record ?? {}) as Record<string, unknown>;
  const isWhole =
    Number.isSafeInteger(index) &&
    isBase64(leaf) &&
    (salt === undefined) === (payload === undefined) &&
    (salt === undefined || isBase64(salt)) &&
    (payload === undefined || typeof payload === 'string') &&
    Array.isArray(proof) &&
    proof.length <= longestProof &&
    proof.every(isBase64);
  if (!isWhole) throw new ReceiptError('A record of the receipt is not whole.');
  return record as ReceiptRecord;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new ReceiptError('The file is not JSON.');
}

function isBase64(value: unknown): boolean {
  return typeof value === 'string' && decodeBase64(value) !== undefined;
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
