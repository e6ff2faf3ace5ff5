import type { LogReport } from '../verify.ts';
import { describeKey } from './describe-key.ts';

/** Records after the last checkpoint cannot be judged without the gate's own key; they are counted, not blamed. */
export function isIntact({ findings, findingCount }: LogReport): boolean {
  return findings.length === findingCount && findings.every(({ kind }) => kind === 'record-appended');
}

export function describeLog(
  report: LogReport,
  key: string,
  { isKnownKey }: { readonly isKnownKey: boolean },
): string[] {
  const { size, checkpointSize, erased, findings, findingCount } = report;
  const blamed = findings.filter(({ kind }) => kind !== 'record-appended');
  return [
    isIntact(report)
      ? `Intact: ${checkpointSize} of ${size} records are proved by a signed checkpoint.`
      : 'Not intact.',
    ...(size > checkpointSize ? [`${size - checkpointSize} records are newer than the last checkpoint.`] : []),
    ...(erased > 0 ? [`${erased} records were erased; their leaves still count.`] : []),
    describeKey(key, { isKnownKey, from: 'export' }),
    ...blamed.map(({ message }) => `- ${message}`),
    ...(findingCount > findings.length ? [`- and ${findingCount - findings.length} more`] : []),
  ];
}

/** With the names and the form of the gate's own verdict: 64-bit numbers are text. */
export function logAsJson(report: LogReport, key: string): object {
  const { size, checkpointSize, erased, findings, findingCount } = report;
  return {
    intact: isIntact(report),
    records: String(size),
    checkpointSize: String(checkpointSize),
    erasedRecords: String(erased),
    key,
    findings: findings.map(({ fromIndex, toIndex, ...finding }) => {
      return { ...finding, fromIndex: String(fromIndex), toIndex: String(toIndex) };
    }),
    findingCount,
  };
}
