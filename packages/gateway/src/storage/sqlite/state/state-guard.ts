import type { Database, Statement } from '../database.ts';
import { contextOf } from './kept-state.ts';
import type { KeptState } from './kept-state.ts';
import type { StateSums } from './state-sums.ts';
import { rowText, stateGroups } from './state-tables.ts';

/**
 * Keeps the sums of all state in step with every change of this connection, whoever makes it, and writes them in the
 * same transaction, together with the size of the log. See docs/decisions/0010-state-beside-the-log.md.
 */
export class StateGuard {
  readonly #save: Statement;
  readonly #labels: string;
  #sums: StateSums;
  #committed: StateSums;

  /** The sums must be those of the rows as they are now. */
  constructor(database: Database, sums: StateSums) {
    this.#sums = sums;
    this.#committed = sums.clone();
    this.#labels = JSON.stringify(sums.labels);
    this.#save = database.prepare(
      'INSERT OR REPLACE INTO state (id, position, open_from, labels, tallies, sealed) VALUES (1, ?, ?, ?, ?, ?)',
    );
    database.define('count_row', (group: number, sign: 1 | -1, row: string) => {
      this.#sums.count(group, sign, row);
      return null;
    });
    for (const table of new Set(stateGroups.map((group) => group.table))) watchTable(database, table);
  }

  /** Inside the transaction, after its last change. */
  save({ position, openFrom, tallies }: Pick<KeptState, 'position' | 'openFrom' | 'tallies'>): void {
    const sealed = this.#sums.seal(contextOf({ position, openFrom, tallies, labels: this.#labels }));
    this.#save.run(position, openFrom, this.#labels, tallies, sealed);
  }

  committed(): void {
    this.#committed = this.#sums.clone();
  }

  rolledBack(): void {
    this.#sums = this.#committed.clone();
  }
}

/** Triggers of this connection alone: they see what statements, replacements and foreign keys do. */
function watchTable(database: Database, table: string): void {
  const [went, came] = [countRow(database, table, 'old', -1), countRow(database, table, 'new', 1)];
  const changes = [
    ['INSERT', came],
    ['DELETE', went],
    ['UPDATE', `${went}, ${came}`],
  ] as const;
  for (const [change, counts] of changes) {
    database.execute(
      `CREATE TEMP TRIGGER count_${table}_${change.toLowerCase()} AFTER ${change} ON main.${table}
       BEGIN SELECT ${counts}; END`,
    );
  }
}

function countRow(database: Database, table: string, prefix: 'old' | 'new', sign: 1 | -1): string {
  const groups = stateGroups.flatMap((group, index) => (group.table === table ? [{ ...group, index }] : []));
  const cases = groups.map(({ where, index }) => `WHEN ${ofRow(where, prefix)} THEN ${index}`);
  return `count_row(CASE ${cases.join(' ')} END, ${sign}, ${rowText(database, table, prefix)})`;
}

/** The conditions name one column each. */
function ofRow(where: string, prefix: string): string {
  return where.replace(/\bstatus\b/g, `${prefix}.status`);
}
