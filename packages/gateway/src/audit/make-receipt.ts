import { attempt } from '@sallyport/contract';
import { decodeLeaf, isSignedBy, openCheckpoint, parseVerifier, verifyReceipt, writeReceipt } from '@sallyport/log';
import type { StoredCheckpoint, StoredRecord } from '@sallyport/log';
import type { KeptLog } from '../storage/stores.ts';

/** A call by its id, or one record by its place in the log. */
export type ReceiptSubject = { readonly callId: string } | { readonly index: number };

export interface ReceiptCircumstances {
  /** The public key of the log. */
  readonly verifier: string;
  /** Takes the secrets that the gate holds by now out of a record: it may not have held them when it was written. */
  readonly hideHeldInJson: (json: string) => string;
  /** The newest checkpoint that witnesses cosigned. Absent: none did. */
  readonly cosigned?: string | undefined;
}

const reasons = {
  'not-found': 'There is no record of it.',
  'not-signed': 'No checkpoint covers it yet. The gate signs one within a second; try again.',
  changed: 'The log does not prove it: something other than the gate changed the log. Run `sallyport audit verify`.',
} as const;

/** There is nothing to hand out. The message is for an operator. */
export class NoReceipt extends Error {
  override readonly name = 'NoReceipt';
  readonly reason: keyof typeof reasons;

  constructor(reason: keyof typeof reasons, options?: ErrorOptions) {
    super(reasons[reason], options);
    this.reason = reason;
  }
}

/**
 * The text of a receipt, verified as its receiver will do it. The content of a record that holds a secret which the
 * gate knows by now is kept back; its leaf is proved all the same. Throws NoReceipt.
 */
export async function makeReceipt(
  log: KeptLog,
  subject: ReceiptSubject,
  circumstances: ReceiptCircumstances,
): Promise<string> {
  const { verifier, hideHeldInJson } = circumstances;
  const records = findRecords(log, subject);
  const last = records.at(-1);
  if (last === undefined) throw new NoReceipt('not-found');
  const erasures = findErasures(log, records);
  const checkpoint = pickCheckpoint(log, Math.max(last.index, ...erasures.map(({ index }) => index)), circumstances);
  if (checkpoint === undefined) throw new NoReceipt('not-signed');
  const call = readCallId(last);
  try {
    const text = writeReceipt({
      ...(call === undefined ? {} : { call }),
      records: records.map((record) => keepBack(record, hideHeldInJson)),
      erasures,
      checkpoint: checkpoint.note,
      size: checkpoint.size,
      verifier,
      readNode: log.readNode,
    });
    const { problems } = await verifyReceipt(text, { verifier, checkSignature: isSignedBy });
    if (problems.length === 0) return text;
    throw new Error(problems.join(' '));
  } catch (error) {
    throw new NoReceipt('changed', { cause: error });
  }
}

/** What happened beside the call, such as its network requests, has a receipt of its own by its index. */
function findRecords(log: KeptLog, subject: ReceiptSubject): readonly StoredRecord[] {
  if ('index' in subject) return [log.recordAt(subject.index)].filter((record) => record !== undefined);
  return log.recordsOfCall(subject.callId).filter(({ leaf }) => decodeLeaf(leaf).kind !== 'event');
}

/** The events that say that contents of these records were erased. */
function findErasures(log: KeptLog, records: readonly StoredRecord[]): readonly StoredRecord[] {
  const gone = records.filter(({ payload }) => payload === undefined);
  const found = gone.flatMap(({ index }) => log.erasureOf(index) ?? []);
  return [...new Map(found.map((record) => [record.index, record])).values()];
}

function readCallId({ leaf }: StoredRecord): string | undefined {
  return decodeLeaf(leaf).callId;
}

function keepBack(record: StoredRecord, hideHeldInJson: (json: string) => string): Omit<StoredRecord, 'tag'> {
  const { index, leaf, salt, payload } = record;
  const isShown = salt !== undefined && payload !== undefined && hideHeldInJson(payload) === payload;
  return { index, leaf, ...(isShown ? { salt, payload } : {}) };
}

/** One that witnesses saw proves more, so it is taken although the gate may have signed newer ones. */
function pickCheckpoint(
  log: KeptLog,
  index: number,
  { verifier, cosigned }: ReceiptCircumstances,
): StoredCheckpoint | undefined {
  const witnessed = cosigned === undefined ? undefined : readOwn(cosigned, verifier);
  return [witnessed, log.lastCheckpoint()].find((checkpoint) => checkpoint !== undefined && checkpoint.size > index);
}

function readOwn(note: string, verifier: string): StoredCheckpoint | undefined {
  return attempt(() => ({ size: openCheckpoint(note, parseVerifier(verifier)).size, note }));
}
