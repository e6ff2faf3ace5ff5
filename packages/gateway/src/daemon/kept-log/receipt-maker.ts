import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '@sallyport/contract';
import { makeReceipt, NoReceipt } from '../../audit/make-receipt.ts';
import type { ReceiptSubject } from '../../audit/make-receipt.ts';
import type { KeptLog } from '../../storage/stores.ts';
import type { Home } from '../home/home.ts';
import { openKeptLog } from './open-kept-log.ts';
import { openKeptRedactor } from './open-kept-redactor.ts';

export type MakeReceipt = (subject: ReceiptSubject) => Promise<string>;

/** A checkpoint is signed at most every 100 ms. */
const triesForSignature = 10;
const betweenTriesMs = 100;

/** Reads the files of the log for each receipt. What is hidden is asked each time, because secrets are added. */
export function receiptMaker(home: Home, hideHeldInJson: (log: KeptLog) => (json: string) => string): MakeReceipt {
  const make = async (subject: ReceiptSubject): Promise<string> => {
    const log = openKeptLog(home);
    try {
      return await makeReceipt(log, subject, {
        verifier: readFileSync(home.verifierFile, 'utf8').trim(),
        cosigned: readIfPresent(home.cosignedCheckpointFile),
        hideHeldInJson: hideHeldInJson(log),
      });
    } finally {
      log.close();
    }
  };
  return async (subject) => {
    for (let left = triesForSignature; ; left -= 1) {
      try {
        return await make(subject);
      } catch (error) {
        if (left === 0 || !(error instanceof NoReceipt) || error.reason !== 'not-signed') throw error;
        await sleep(betweenTriesMs);
      }
    }
  };
}

/** For a gate that is not running. */
export function keptReceiptMaker(home: Home): MakeReceipt {
  return receiptMaker(home, (log) => openKeptRedactor(home, log).hideHeldInJson);
}

function readIfPresent(file: string): string | undefined {
  return attempt(() => readFileSync(file, 'utf8'));
}
