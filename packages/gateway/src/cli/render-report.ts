import type { LogReport } from '@sallyport/log';
import { renderFields } from './table.ts';
import type { Terminal } from './terminal.ts';
import { makeVisibleLine } from './visible-text.ts';

export interface Verification {
  readonly report: LogReport;
  readonly verifierText: string;
  /** How many checkpoints from outside the database took part. */
  readonly remembered: number;
  /** Whether records that no checkpoint covers yet could be told from forged ones. */
  readonly tagsChecked: boolean;
}

export function reportToJson({ report, verifierText, remembered, tagsChecked }: Verification): object {
  return {
    intact: report.ok,
    records: report.size,
    signed_records: report.checkpointSize,
    tagged_records: report.coveredByTags,
    erased_records: report.erased,
    root: report.root.toString('base64'),
    key: verifierText,
    remembered_checkpoints: remembered,
    tags_checked: tagsChecked,
    ...(report.checkpoint === undefined ? {} : { checkpoint: report.checkpoint }),
    finding_count: report.findingCount,
    findings: report.findings.map(({ kind, fromIndex, toIndex, message }) => ({
      kind,
      from_index: fromIndex,
      to_index: toIndex,
      message,
    })),
  };
}

export function renderReport(verification: Verification, terminal: Pick<Terminal, 'columns' | 'paint'>): string[] {
  const { report, verifierText, remembered } = verification;
  const { columns, paint } = terminal;
  const facts: [string, string][] = [
    ['records', String(report.size)],
    ['signed', describeSigned(verification)],
    ['erased', report.erased === 0 ? '' : `${report.erased}, which the log still proves to have been`],
    ['root', report.root.toString('base64')],
    ['key', verifierText],
    ['compared', remembered === 0 ? '' : `with ${count(remembered, 'checkpoint')} kept outside the database`],
  ];
  const lines = renderFields(
    facts.map(([label, value]) => [label, makeVisibleLine(value)]),
    columns,
  );
  if (report.ok) return [paint('green', 'The log is intact.'), ...lines];
  const hidden = report.findingCount - report.findings.length;
  return [
    paint('red', `The log was changed: ${count(report.findingCount, 'finding')}.`),
    ...renderFields(
      report.findings.map(({ kind, message }) => [kind, makeVisibleLine(message)]),
      columns,
    ),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    '',
    ...lines,
  ];
}

function describeSigned({ report, tagsChecked }: Verification): string {
  const rest = report.size - report.checkpointSize;
  if (report.size === 0) return '';
  const signed = report.checkpointSize === 0 ? 'none yet' : `the first ${report.checkpointSize}`;
  if (rest === 0) return 'all of them';
  return tagsChecked
    ? `${signed}; ${report.coveredByTags} after that carry a valid tag`
    : `${signed}; the tags of the others cannot be checked without the signing key`;
}

function count(amount: number, thing: string): string {
  return `${amount} ${thing}${amount === 1 ? '' : 's'}`;
}
