import type { ErasedRows } from '../../stores.ts';

const listed = (name: string): string => `(SELECT value FROM json_each(:${name}))`;

/** How long a dedupe key is kept, which also tells when its call began. */
const keyLifeMs = 3_600_000;

export const selectJournal = `call_id IN ${listed('calls')} OR ifnull(parent_call_id IN ${listed('calls')}, 0)
  OR (session_id IN ${listed('sessions')} AND at_ms < :until) OR at_ms < :before`;

export const selectDedupe = `call_id IN ${listed('calls')}
  OR (session_id IN ${listed('sessions')} AND expires_at_ms < :until + ${keyLifeMs})
  OR expires_at_ms < :before + ${keyLifeMs}`;

/** Approvals or plans. Age alone does not erase one that somebody may still decide or use. */
export const selectDecisions = `id IN ${listed('decisions')} OR (session_id IN ${listed('sessions')} AND created_at_ms < :until)
  OR (created_at_ms < :before AND status NOT IN ('pending', 'approved'))`;

/** SQLite refuses a named value that a statement does not use. */
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
