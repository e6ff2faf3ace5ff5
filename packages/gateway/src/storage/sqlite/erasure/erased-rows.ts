import type { ErasedRows } from '../../stores.ts';

const listed = (name: string): string => `(SELECT value FROM json_each(:${name}))`;

/** A dedupe key is kept for so long, so that this tells when its call began. */
const keyLifeMs = 3_600_000;

export const selectJournal = `call_id IN ${listed('calls')} OR ifnull(parent_call_id IN ${listed('calls')}, 0)
  OR (session_id IN ${listed('sessions')} AND at_ms < :until) OR at_ms < :before`;

export const selectDedupe = `call_id IN ${listed('calls')}
  OR (session_id IN ${listed('sessions')} AND expires_at_ms < :until + ${keyLifeMs})
  OR expires_at_ms < :before + ${keyLifeMs}`;

/** Approvals or plans. What somebody still may decide or use does not go because of its age. */
export const selectDecisions = `id IN ${listed('decisions')} OR (session_id IN ${listed('sessions')} AND created_at_ms < :until)
  OR (created_at_ms < :before AND status NOT IN ('pending', 'approved'))`;

/** A statement takes no name that it does not have. */
export function bindRows(
  rows: ErasedRows,
  names: readonly ('calls' | 'sessions' | 'decisions' | 'before' | 'until')[],
): Record<string, string | number> {
  const all = {
    calls: JSON.stringify(rows.callIds),
    sessions: JSON.stringify(rows.sessionIds),
    decisions: JSON.stringify(rows.decisionIds),
    before: rows.beforeMs ?? -keyLifeMs,
    until: rows.untilMs,
  };
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}
