import type { ReceiptReport, ShownRecord } from '../verify-receipt.ts';
import { describeKey, makeVisible } from './describe-key.ts';

const longestContent = 2000;

/** In the order in which a person asks: is it true, what was decided, what was recorded, who says so. */
export function describeReceipt(report: ReceiptReport): string[] {
  const { intact, problems, isKnownKey, key } = report;
  const signer = describeKey(key, { isKnownKey, from: 'receipt' });
  if (!intact)
    return ['Not intact: this receipt proves nothing.', ...problems.map((each) => `- ${makeVisible(each)}`), signer];
  return [
    `Intact: the records below are in the log ${makeVisible(report.origin ?? '')}.`,
    ...(report.call === undefined ? [] : [`Call: ${report.call}`]),
    ...Object.entries(report.decision ?? {}).map(([name, value]) => `${capitalise(name)}: ${spell(value)}`),
    ...report.records.flatMap(describeRecord),
    `Signed in a checkpoint over ${report.checkpointSize} records.`,
    ...report.witnesses.map(({ name, timeS }) => `Cosigned by ${makeVisible(name)} at ${describeTime(timeS * 1000)}.`),
    ...(report.unknownSigners.length === 0
      ? []
      : [`Also signed by ${report.unknownSigners.map(makeVisible).join(', ')}: pass --witness KEY to check that.`]),
    signer,
  ];
}

function describeRecord({ index, kind, result, timeMs, payload, erasedBy }: ShownRecord): string[] {
  const heading = [kind, result === 'none' ? '' : result].filter(Boolean).join(', ');
  const absent =
    erasedBy === undefined
      ? '(its content is not in the receipt)'
      : `(its content was erased by the gate; record ${erasedBy} of the log says so)`;
  const content = payload === undefined ? absent : makeVisible(payload);
  return [
    `Record ${index}: ${heading}, ${describeTime(timeMs)}`,
    `  ${content.length > longestContent ? `${content.slice(0, longestContent)}…` : content}`,
  ];
}

function capitalise(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** `effect: allow; rule_id: reads`. Deeper values are shown as they are in the record. */
function spell(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return spellPart(value);
  return Object.entries(value)
    .map(([name, member]) => `${makeVisible(name)}: ${spellPart(member)}`)
    .join('; ');
}

function spellPart(value: unknown): string {
  return makeVisible(typeof value === 'string' ? value : JSON.stringify(value));
}

function describeTime(timeMs: number): string {
  // A number that is too large for a date is shown as it is.
  return Math.abs(timeMs) > 8.64e15 ? String(timeMs) : new Date(timeMs).toISOString();
}
