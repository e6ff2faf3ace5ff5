import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { isSignedBy, parseVerifier } from '../checkpoint.ts';
import { consistencyFormat, verifyConsistencyFile } from '../consistency.ts';
import { openExport } from '../exported-log.ts';
import { receiptFormat } from '../receipt.ts';
import { verifyLog } from '../verify.ts';
import { verifyReceipt } from '../verify-receipt.ts';
import { describeKey } from './describe-key.ts';
import { describeLog, isIntact, logAsJson } from './describe-log.ts';
import { describeReceipt } from './describe-receipt.ts';
import { readKey } from './read-key.ts';

export interface VerifyOptions {
  /** The public key, as text or in a file. */
  readonly key?: string | undefined;
  readonly witness?: readonly string[] | undefined;
  /** A file. */
  readonly checkpoint?: string | undefined;
}

export interface Verdict {
  readonly intact: boolean;
  readonly lines: readonly string[];
  readonly json: object;
}

/** Judges a receipt, a proof of consistency or an exported log: the file says which it is. */
export async function verifyFile(file: string, options: VerifyOptions): Promise<Verdict> {
  const verifier = options.key === undefined ? undefined : readKey(options.key);
  const witnesses = (options.witness ?? []).map(readKey);
  const kept = options.checkpoint === undefined ? undefined : readFileSync(options.checkpoint, 'utf8');
  const format = findFormat(file);
  if (format === receiptFormat) {
    if (kept !== undefined) throw new Error('A receipt is not compared with a checkpoint. Leave out --checkpoint.');
    const text = readFileSync(file, 'utf8');
    const report = await verifyReceipt(text, { verifier, witnesses, checkSignature: isSignedBy });
    return { intact: report.intact, lines: describeReceipt(report), json: report };
  }
  if (witnesses.length > 0) throw new Error('Witnesses are looked for in receipts. Leave out --witness.');
  if (format === consistencyFormat) {
    const report = verifyConsistencyFile(readFileSync(file, 'utf8'), { verifier, kept });
    const { intact, problem = '', oldSize, size, key, isKnownKey } = report;
    const said = intact
      ? `Intact: the log of ${size} records continues the one of ${oldSize}.`
      : `Not intact. ${problem}`;
    return { intact, lines: [said, describeKey(key, { isKnownKey, from: 'proof' })], json: report };
  }
  return verifyExport(file, verifier, kept);
}

function verifyExport(file: string, verifier: string | undefined, kept: string | undefined): Verdict {
  const log = openExport(file);
  const key = verifier ?? log.verifier;
  const report = verifyLog(log, { verifier: parseVerifier(key) }, { remembered: kept === undefined ? [] : [kept] });
  const isKnownKey = verifier !== undefined;
  return { intact: isIntact(report), lines: describeLog(report, key, { isKnownKey }), json: logAsJson(report, key) };
}

/** The beginning is enough: all that we write names its format first. */
function findFormat(file: string): string | undefined {
  const start = Buffer.alloc(256);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, start);
  } finally {
    closeSync(descriptor);
  }
  return /^\s*\{\s*"format"\s*:\s*"([a-z0-9-]+)"/.exec(start.toString('utf8'))?.[1];
}
