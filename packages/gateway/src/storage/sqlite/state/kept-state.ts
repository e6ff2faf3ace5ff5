import { digest } from '@sallyport/log';
import { ConfigError } from '../../../call/fault.ts';
import { isFaultOfStatement } from '../database.ts';
import type { Database, Row } from '../database.ts';
import { labelOf, rowText, stateGroups } from './state-tables.ts';
import type { StateKeys } from './state-sums.ts';
import { StateSums, tagOf } from './state-sums.ts';

/** State in the database beside the tables, which belongs to one size of the log. */
export interface KeptState {
  /** The size of the log. */
  readonly position: number;
  /** The log before this place has no open intent. */
  readonly openFrom: number;
  /** Of `Tallies`. */
  readonly tallies: string;
  readonly sums: StateSums;
}

/**
 * Undefined: the database has nothing that was made with these keys. `found` is what it has, as it was found. Databases
 * of earlier versions have neither tallies nor a place: their intents are looked for in all of the log.
 */
export function readKeptState(
  database: Database,
  keys: StateKeys,
): { readonly found?: Pick<KeptState, 'tallies'>; readonly kept?: KeptState } {
  const hasTable = database.readNumber(`SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'state'`);
  const row = hasTable === 1 ? database.prepare('SELECT * FROM state').get() : undefined;
  if (row === undefined) return {};
  const kept = row['tag'] === undefined ? openEarlier(row, keys) : openRow(row, keys);
  return { found: { tallies: String(row['tallies'] ?? '') }, ...(kept && { kept }) };
}

function openRow(row: Row, keys: StateKeys): KeptState | undefined {
  const [position, openFrom] = [Number(row['position']), Number(row['open_from'])];
  const [tallies, labels] = [String(row['tallies']), parseLabels(row['labels'])];
  const { sealed, tag } = row;
  if (labels === undefined || !(sealed instanceof Uint8Array) || !(tag instanceof Uint8Array)) return undefined;
  if (!tagState(keys, { position, openFrom, tallies, sealedSha256: digest(sealed) }).equals(tag)) return undefined;
  const sums = StateSums.open(keys, { context: contextOf(labels), labels, sealed });
  return sums && { position, openFrom, tallies, sums };
}

/** Until version 6 of the schema the place in the log was sealed together with the sums. */
function openEarlier(row: Row, keys: StateKeys): KeptState | undefined {
  const [position, labels] = [Number(row['position']), parseLabels(row['labels'])];
  if (labels === undefined) return undefined;
  const context = `${position}\n${labels.join('\n')}`;
  const sums = StateSums.open(keys, { context, labels, sealed: row['sealed'] as Uint8Array });
  return sums && { position, openFrom: 0, tallies: '', sums };
}

/** What the sums are sealed with. The place is not in it, so that they are sealed again only when one has changed. */
export function contextOf(labels: readonly string[]): string {
  return `sums\n${labels.join('\n')}`;
}

/** Binds all parts of the row to each other. Written with every commit. */
export function tagState(
  keys: StateKeys,
  parts: Pick<KeptState, 'position' | 'openFrom' | 'tallies'> & { readonly sealedSha256: string },
): Buffer {
  return tagOf(keys, `${parts.position} ${parts.openFrom} ${parts.sealedSha256}${parts.tallies}`);
}

/** The tables whose rows are not those that were summed up, by the names that people know. */
export function findChangedTables(
  database: Database,
  keys: StateKeys,
  kept: StateSums,
  which: 'all' | 'atStart',
): readonly string[] {
  const later = new Set(stateGroups.filter(({ atStart }) => !atStart).map(labelOf));
  const found = new StateSums(keys, kept.labels);
  const changed = new Set<string>();
  for (const [group, label] of kept.labels.entries()) {
    if (which === 'atStart' && later.has(label)) continue;
    // A label is what an earlier version of this program made, as the seal shows.
    const [table = '', where = ''] = label.split(' WHERE ', 2);
    const isRead = trySumUp(database, found, { group, table, where });
    if (!isRead || !found.equals(kept, group)) changed.add(table.replaceAll('_', ' '));
  }
  return [...changed];
}

/** All sums, from the rows as they are. */
export function sumUpState(database: Database, keys: StateKeys): StateSums {
  const sums = new StateSums(keys, stateGroups.map(labelOf));
  for (const [group, { table, where }] of stateGroups.entries()) sumUp(database, sums, { group, table, where });
  return sums;
}

interface SummedGroup {
  readonly group: number;
  readonly table: string;
  readonly where: string;
}

/** False: the table is missing, or has other columns. */
function trySumUp(database: Database, sums: StateSums, which: SummedGroup): boolean {
  try {
    sumUp(database, sums, which);
    return true;
  } catch (error) {
    if (isFaultOfStatement(error)) return false;
    throw error;
  }
}

function sumUp(database: Database, sums: StateSums, { group, table, where }: SummedGroup): void {
  const rows = database.prepare(`SELECT ${rowText(database, table, table)} AS row FROM ${table} WHERE ${where}`);
  for (const { row } of rows.iterate()) sums.count(group, 1, String(row));
}

export function stateChanged(what: string): ConfigError {
  return new ConfigError(
    `The state of the gate was changed by something other than Sallyport. ${what}`,
    'Restore sallyport.db from a backup. If the change is your own, remove keys/state.key: the next start accepts ' +
      'the state as it finds it, and records that in the audit log.',
  );
}

function parseLabels(text: unknown): string[] | undefined {
  try {
    const labels: unknown = JSON.parse(String(text));
    return Array.isArray(labels) && labels.every((label) => typeof label === 'string') ? labels : undefined;
  } catch {
    return undefined;
  }
}
