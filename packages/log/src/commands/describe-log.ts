import { spellRanges } from '../removals.ts';
import type { LogReport } from '../verify.ts';
import { describeKey } from './describe-key.ts';

/**
 * Records after the last checkpoint cannot be judged without the gate's own key; they are counted, and are not
 * findings.
 */
export function isIntact({ findings, findingCount }: LogReport): boolean {
  return findings.length === findingCount && findings.every(({ kind }) => kind === 'record-appended');
}

export function describeLog(
  report: LogReport,
  key: string,
  { isKnownKey }: { readonly isKnownKey: boolean },
): string[] {
  const { size, checkpointSize, erased, archived, findings, findingCount } = report;
  const blamed = findings.filter(({ kind }) => kind !== 'record-appended');
  return [
    isIntact(report)
      ? `Intact: ${checkpointSize} of ${size} records are proved by a signed checkpoint.`
      : 'Not intact.',
    ...(size > checkpointSize ? [`${size - checkpointSize} records are newer than the last checkpoint.`] : []),
    ...(erased > 0 ? [`${erased} records were erased, as the log itself says: ${spellErased(report)}.`] : []),
    ...(archived > 0 ? [`${archived} records have their payloads in archive files that are not part of this.`] : []),
    describeKey(key, { isKnownKey, from: 'export' }),
    ...blamed.map(({ message }) => `- ${message}`),
    ...(findingCount > findings.length ? [`- and ${findingCount - findings.length} more`] : []),
  ];
}

const mostShown = 20;

/** Which records were erased, for people. */
function spellErased({ erasedRanges }: LogReport): string {
  const shown = spellRanges(erasedRanges.slice(0, mostShown)).replaceAll(',', ', ');
  return erasedRanges.length > mostShown ? `${shown} and more` : shown;
}

/** With the names and the form of the gate's own verdict: 64-bit numbers are text. */
export function logAsJson(report: LogReport, key: string): object {
  const { size, checkpointSize, erased, erasedRanges, archived, findings, findingCount } = report;
  return {
    intact: isIntact(report),
    records: String(size),
    checkpointSize: String(checkpointSize),
    erasedRecords: String(erased),
    erasedRanges: spellRanges(erasedRanges),
    archivedRecords: String(archived),
    key,
    findings: findings.map(({ fromIndex, toIndex, ...finding }) => {
      return { ...finding, fromIndex: String(fromIndex), toIndex: String(toIndex) };
    }),
    findingCount,
  };
}
