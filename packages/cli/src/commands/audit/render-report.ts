import type { LogReport } from '@sallyport/log';
import { renderFields } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** Whether the state beside the log (sessions, leases, approvals, pins, mode, organisation) is what the gate wrote. */
export type StateVerdict =
  | { readonly kind: 'matches' }
  | { readonly kind: 'changed'; readonly problems: readonly string[] }
  | { readonly kind: 'not-checked'; readonly why: string };

export interface Verification {
  readonly report: LogReport;
  readonly state: StateVerdict;
  readonly verifierText: string;
  /** How many checkpoints from outside the database took part. */
  readonly remembered: number;
  /** Whether records that no checkpoint covers yet could be told from forged ones. */
  readonly tagsChecked: boolean;
}

/** State that could not be checked does not make the log less intact. */
export function isIntact({ report, state }: Pick<Verification, 'report' | 'state'>): boolean {
  return report.ok && state.kind !== 'changed';
}

export function reportToJson(verification: Verification): object {
  const { report, state, verifierText, remembered, tagsChecked } = verification;
  return {
    intact: isIntact(verification),
    log_intact: report.ok,
    state: state.kind,
    ...(state.kind === 'not-checked' ? { state_not_checked_because: state.why } : {}),
    state_findings: state.kind === 'changed' ? state.problems : [],
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
  const { report, state, verifierText, remembered } = verification;
  const { columns, paint } = terminal;
  const facts: [string, string][] = [
    ['records', String(report.size)],
    ['signed', describeSigned(verification)],
    ['erased', report.erased === 0 ? '' : `${report.erased}, which the log still proves to have been`],
    ['root', report.root.toString('base64')],
    ['key', verifierText],
    ['compared', remembered === 0 ? '' : `with ${count(remembered, 'checkpoint')} kept outside the database`],
    ['state', describeState(state)],
  ];
  const lines = renderFields(
    facts.map(([label, value]) => [label, makeVisibleLine(value)]),
    columns,
  );
  if (isIntact(verification)) return [paint('green', 'The log is intact.'), ...lines];
  const changed = state.kind === 'changed' ? state.problems.map((problem): [string, string] => ['state', problem]) : [];
  const hidden = report.findingCount - report.findings.length;
  return [
    paint('red', describeChange(report, changed.length)),
    ...renderFields(
      [...report.findings.map(({ kind, message }): [string, string] => [kind, message]), ...changed].map(
        ([kind, message]) => [kind, makeVisibleLine(message)],
      ),
      columns,
    ),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    '',
    ...lines,
  ];
}

function describeChange(report: LogReport, changesOfState: number): string {
  if (report.ok) return `The log is intact, but the state beside it was changed: ${count(changesOfState, 'finding')}.`;
  return `The log was changed: ${count(report.findingCount + changesOfState, 'finding')}.`;
}

function describeState(state: StateVerdict): string {
  if (state.kind === 'not-checked') return `not checked: ${state.why}`;
  return state.kind === 'matches'
    ? 'matches the log (sessions, leases, approvals, pins, mode, organisation)'
    : 'changed';
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
