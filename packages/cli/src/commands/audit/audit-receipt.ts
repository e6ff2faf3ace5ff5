import { isSignedBy, verifyReceipt } from '@sallyport/log';
import { keptReceiptMaker, NoReceipt } from '@sallyport/gateway';
import type { ReceiptSubject } from '@sallyport/gateway';
import { exitCodes } from '@sallyport/contract/codes';
import { existsSync } from 'node:fs';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { CommandFailure, describeError, usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { idStart, wholeId } from '../../terminal/short-id.ts';
import { renderFields } from '../../terminal/table.ts';
import { wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';
import { findCall } from '../../client/find-call.ts';

export interface AuditReceiptOptions {
  readonly which: string;
  /** Absent: receipt-CALL.json in the current folder. */
  readonly file?: string;
}

/** Writes a file that proves one call, or one record, to somebody who has nothing else of the gate. */
export async function writeReceiptFile({ which, file }: AuditReceiptOptions, context: CommandContext): Promise<number> {
  const { config, terminal, json } = context;
  const receipt = await askForReceipt(which, context);
  const target = file ?? `receipt-${nameOf(which)}.json`;
  try {
    writeFileAtomically(target, receipt);
  } catch (error) {
    throw usageFailure(`${target} cannot be written: ${describeError(error)}`);
  }
  const report = await verifyReceipt(receipt, { checkSignature: isSignedBy });
  const { decision, records, checkpointSize = 0 } = report;
  const withheld = records.filter(({ payload }) => payload === undefined).length;
  if (json) {
    const indexes = records.map(({ index }) => String(index));
    terminal.print(visibleJson({ file: target, call: report.call ?? '', records: indexes, decision, withheld }));
    return exitCodes.success;
  }
  const fields: [string, string][] = [
    ['call', report.call ?? ''],
    ['tool', typeof decision?.tool === 'string' ? decision.tool : ''],
    ['result', decision?.result ?? records[0]?.result ?? ''],
    ['records', records.map(({ index }) => index).join(', ')],
    ['signed', `in a checkpoint over ${checkpointSize} records`],
    ['cosigned', report.unknownSigners.join(', ')],
    ['kept back', withheld === 0 ? '' : `the content of ${withheld}, which was erased or holds a secret`],
  ];
  const say = (text: string): string[] => wrapWords(text, terminal.columns);
  terminal.print(
    `The receipt is in ${makeVisibleLine(target)}.`,
    ...renderFields(
      fields.map(([label, value]) => [label, makeVisibleLine(value)]),
      terminal.columns,
    ),
    'To verify it anywhere, without the gate:',
    `  npx @sallyport/log verify ${makeVisibleLine(target)} --key ${makeVisibleLine(config.home.verifierFile)}`,
    ...say('It holds the redacted arguments of this call. Send the key to the receiver another way.'),
  );
  return exitCodes.success;
}

async function askForReceipt(which: string, context: CommandContext): Promise<string> {
  const client = context.openOperatorClient();
  try {
    const subject = await findSubject(which, client);
    const request = 'callId' in subject ? subject : { index: String(subject.index) };
    return (await client.call('OperatorService/GetReceipt', request)).receiptJson;
  } catch (error) {
    const isDown = error instanceof CommandFailure && error.exitCode === exitCodes.unreachable;
    if (!isDown || !existsSync(context.config.home.databaseFile)) throw error;
    return readReceipt(which, context);
  }
}

/** From the files of a gate that does not run. */
async function readReceipt(which: string, { config }: CommandContext): Promise<string> {
  const subject = readSubject(which);
  if (subject === undefined) {
    throw usageFailure('The daemon is not running, so give the whole id of the call.', 'Or start the daemon.');
  }
  try {
    return await keptReceiptMaker(config.home)(subject);
  } catch (error) {
    if (!(error instanceof NoReceipt)) throw error;
    throw new CommandFailure('NO_RECEIPT', exitCodes.denied, error.message);
  }
}

/** Undefined: it is only the beginning of an id. */
function readSubject(which: string): ReceiptSubject | undefined {
  if (/^\d{1,15}$/.test(which)) return { index: Number(which) };
  const start = which.toLowerCase();
  if (!idStart.test(start)) throw usageFailure('Name a record by its index, or a call by its id.');
  return wholeId.test(start) ? { callId: start } : undefined;
}

async function findSubject(which: string, client: DaemonClient): Promise<ReceiptSubject> {
  const subject = readSubject(which);
  if (subject !== undefined) return subject;
  const callId = await findCall(which.toLowerCase(), client);
  if (callId === undefined) throw usageFailure(`There is no record of ${which}.`, 'See `audit tail`.');
  return { callId };
}

function nameOf(which: string): string {
  return which.toLowerCase().replace(/[^0-9a-f-]/g, '');
}
