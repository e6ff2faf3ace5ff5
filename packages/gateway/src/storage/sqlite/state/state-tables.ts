import type { Database } from '../database.ts';

/** Rows that are summed up together. */
export interface StateGroup {
  readonly table: string;
  /** Which rows of the table, as SQL. */
  readonly where: string;
  /** False: history that no decision depends on. It may be long, and is checked after the start. */
  readonly atStart: boolean;
}

const whole = (...tables: string[]): StateGroup[] => tables.map((table) => ({ table, where: '1', atStart: true }));
const byAge = (table: string, isLive: string): StateGroup[] => [
  { table, where: isLive, atStart: true },
  { table, where: `NOT (${isLive})`, atStart: false },
];

/** Everything that the gate trusts and that is not the log itself. Every row is in exactly one group of its table. */
export const stateGroups: readonly StateGroup[] = [
  ...whole('settings', 'sessions', 'leases', 'counters', 'dedupe', 'secrets', 'tool_pins'),
  ...whole('standing_approvals', 'used_tokens', 'teams', 'members', 'permissions', 'workspace_roots'),
  ...whole('content', 'content_grants', 'artifacts', 'tool_uses', 'erasures', 'removals'),
  ...byAge('approvals', `status IN ('pending', 'approved')`),
  ...byAge('plans', `status IN ('pending', 'approved')`),
  { table: 'approval_requests', where: '1', atStart: false },
  { table: 'mode_changes', where: '1', atStart: false },
  { table: 'anomalies', where: '1', atStart: false },
  { table: 'journal', where: '1', atStart: false },
];

/** A permanent name of a group: a later version can compute the sum of this label again. */
export function labelOf({ table, where }: StateGroup): string {
  return `${table} WHERE ${where}`;
}

/** A row as one text, with its table, so that no row can stand for another. `prefix` is `old`, `new` or the table. */
export function rowText(database: Database, table: string, prefix: string): string {
  const columns = database
    .prepare('SELECT name, type FROM pragma_table_xinfo(?) ORDER BY cid')
    .all(table)
    .map(({ name, type }) => {
      const column = `${prefix}."${String(name).replaceAll('"', '""')}"`;
      // JSON has no bytes.
      return type === 'BLOB' ? `quote(${column})` : column;
    });
  return `json_array('${table}', ${columns.join(', ')})`;
}
