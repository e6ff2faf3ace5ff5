import type { DecidedRecord } from '../../stores.ts';
import type { Database, Statement } from '../database.ts';

// Places in the leaf, counted from 1 as SQL does; docs/audit-format.md has them.
const kind = 'substr(leaf, 2, 1)';
const [intent, refusal] = [`x'01'`, `x'03'`];
const sessionId = 'hex(substr(leaf, 29, 16))';

/** The payload of a call begins with what is its own, such as the id of the request; see describeCall. */
const ownBeginning = '{"request_id":"';
const sharedBeginning = `x'${Buffer.from('"agent":"').toString('hex')}'`;
// As bytes, because SQLite goes through the characters of a text one by one.
const shared = `iif(substr(payload, 1, ${ownBeginning.length}) = '${ownBeginning}',
  '{' || substr(CAST(payload AS BLOB), instr(CAST(payload AS BLOB), ${sharedBeginning})), payload)`;

/** Questions about many records that SQLite answers from a few of their columns. */
export class RecordQueries {
  readonly #decided: Statement;

  constructor(database: Database) {
    this.#decided = database.prepare(
      `SELECT position, ${sessionId} || ${shared} AS likeness FROM records
       WHERE position >= ? AND position < ? AND ${kind} IN (${intent}, ${refusal})
         AND payload IS NOT NULL ORDER BY position`,
    );
  }

  readDecided(fromIndex: number, toIndex: number): DecidedRecord[] {
    return this.#decided
      .allLists(fromIndex, toIndex)
      .map(([index, likeness]) => ({ index: index as number, likeness: likeness as string }));
  }
}
