import type { InJson, VerifyAuditResponse } from '@sallyport/contract';
import { renderFields } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

type Verdict = InJson<VerifyAuditResponse>;

export function renderReport(verdict: Verdict, { columns, paint }: Pick<Terminal, 'columns' | 'paint'>): string[] {
  const { intact, records, archivedRecords: archived, rememberedCheckpoints: remembered } = verdict;
  const { findings, findingCount } = verdict;
  const facts: [string, string][] = [
    ['records', records],
    ['signed', describeSigned(verdict)],
    ['erased', describeErased(verdict)],
    ['archived', archived === '0' ? '' : `${archived}, whose archive files are not in audit/archive`],
    ['root', verdict.root],
    ['key', verdict.key],
    ['compared', remembered === 0 ? '' : `with ${count(remembered, 'checkpoint')} kept outside the database`],
    ['state', describeState(verdict)],
  ];
  const render = (fields: readonly [string, string][]): string[] =>
    renderFields(
      fields.map(([label, value]) => [label, makeVisibleLine(value)]),
      columns,
    );
  if (intact) return [paint('green', 'The log is intact.'), ...render(facts)];
  const hidden = findingCount - findings.length;
  return [
    paint('red', describeChange(verdict)),
    ...render(findings.map(({ kind, message }) => [kind, message])),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    '',
    ...render(facts),
  ];
}

function describeChange({ logIntact, findingCount }: Verdict): string {
  const findings = count(findingCount, 'finding');
  if (logIntact) return `The log is intact, but the state beside it was changed: ${findings}.`;
  return `The log was changed: ${findings}.`;
}

const mostRanges = 12;

function describeErased({ erasedRecords, erasedRanges }: Verdict): string {
  if (erasedRecords === '0') return '';
  const ranges = erasedRanges.split(',');
  const shown = ranges.slice(0, mostRanges).join(', ');
  return `${erasedRecords}, as the log itself says: ${shown}${ranges.length > mostRanges ? ' and more' : ''}`;
}

function describeState({ state, stateReason }: Verdict): string {
  if (state === 'not-checked') return `not checked: ${stateReason}`;
  return state === 'matches' ? 'matches the log (sessions, leases, approvals, pins, mode, organisation)' : state;
}

function describeSigned({ records, checkpointSize, taggedRecords, tagsChecked }: Verdict): string {
  if (records === '0') return '';
  if (records === checkpointSize) return 'all of them';
  const signed = checkpointSize === '0' ? 'none yet' : `the first ${checkpointSize}`;
  return tagsChecked
    ? `${signed}; ${taggedRecords} after that carry a valid tag`
    : `${signed}; the tags of the others cannot be checked without the signing key`;
}

function count(amount: number, thing: string): string {
  return `${amount} ${thing}${amount === 1 ? '' : 's'}`;
}
