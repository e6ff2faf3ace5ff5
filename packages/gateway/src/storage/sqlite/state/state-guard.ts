import { digest } from '@sallyport/log';
import type { Database, Statement } from '../database.ts';
import { contextOf, tagState } from './kept-state.ts';
import type { KeptState } from './kept-state.ts';
import type { StateKeys, StateSums } from './state-sums.ts';
import { rowText, stateGroups } from './state-tables.ts';

/**
 * Keeps the sums of all state in step with every change of this connection, from any code, and writes them in the
 * same transaction, together with the size of the log. See docs/decisions/0010-state-beside-the-log.md.
 */
export class StateGuard {
  readonly #keys: StateKeys;
  readonly #saveAll: Statement;
  readonly #savePlace: Statement;
  readonly #labels: string;
  #sums: StateSums;
  #committed: StateSums;
  /** Absent: the database does not have these sums yet. */
  #sealedSha256: string | undefined;
  /** This transaction has sealed them. */
  #isNew = false;

  /** The sums must be those of the rows as they are now. */
  constructor(database: Database, keys: StateKeys, sums: StateSums) {
    this.#keys = keys;
    this.#sums = sums;
    this.#committed = sums.clone();
    this.#labels = JSON.stringify(sums.labels);
    this.#saveAll = database.prepare(
      'INSERT OR REPLACE INTO state (id, position, open_from, tallies, tag, labels, sealed) VALUES (1, ?, ?, ?, ?, ?, ?)',
    );
    this.#savePlace = database.prepare(
      'UPDATE state SET position = ?, open_from = ?, tallies = ?, tag = ? WHERE id = 1',
    );
    database.define('count_row', (group: number, sign: 1 | -1, row: string) => {
      this.#sums.count(group, sign, row);
      this.#sealedSha256 = undefined;
      return null;
    });
    for (const table of new Set(stateGroups.map((group) => group.table))) watchTable(database, table);
  }

  /** Inside the transaction, after its last change. */
  save(place: Pick<KeptState, 'position' | 'openFrom' | 'tallies'>): void {
    const { position, openFrom, tallies } = place;
    if (this.#sealedSha256 !== undefined) {
      const tag = tagState(this.#keys, { ...place, sealedSha256: this.#sealedSha256 });
      this.#savePlace.write(position, openFrom, tallies, tag);
      return;
    }
    const sealed = this.#sums.seal(contextOf(this.#sums.labels));
    const sealedSha256 = digest(sealed);
    const tag = tagState(this.#keys, { ...place, sealedSha256 });
    this.#saveAll.run(position, openFrom, tallies, tag, this.#labels, sealed);
    this.#sealedSha256 = sealedSha256;
    this.#isNew = true;
  }

  committed(): void {
    if (!this.#isNew) return;
    this.#committed = this.#sums.clone();
    this.#isNew = false;
  }

  rolledBack(): void {
    this.#sums = this.#committed.clone();
    // Seal the sums again, whatever this transaction had done.
    this.#sealedSha256 = undefined;
    this.#isNew = false;
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
