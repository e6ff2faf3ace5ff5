import { readEnding } from '@sallyport/log';
import type { CountedEndings, DecidedRecord } from '../../stores.ts';
import type { Database, Row, Statement } from '../database.ts';

// Places in the leaf, counted from 1 as SQL does; docs/audit-format.md has them.
const kind = 'substr(leaf, 2, 1)';
const [intent, refusal] = [`x'01'`, `x'03'`];
const kindAndResult = 'substr(leaf, 2, 2)';
const timeMs = 'substr(leaf, 5, 8)';
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
  readonly #endings: Statement;

  constructor(database: Database) {
    this.#decided = database.prepare(
      `SELECT position, ${sessionId} || ${shared} AS likeness FROM records
       WHERE position >= ? AND position < ? AND ${kind} IN (${intent}, ${refusal})
         AND payload IS NOT NULL ORDER BY position`,
    );
    this.#endings = database.prepare(
      `SELECT ending, named, count(*) AS count, min(time) AS first, max(time) AS last
       FROM (SELECT ${kindAndResult} AS ending, ${timeMs} AS time, position,
               json_extract(payload, '$.tool', '$.refusal.code', '$.event') AS named
             FROM records
             WHERE position >= ? AND position < ? AND ${kind} <> ${intent} AND payload IS NOT NULL)
       GROUP BY ending, named ORDER BY min(position)`,
    );
  }

  readDecided(fromIndex: number, toIndex: number): DecidedRecord[] {
    return this.#decided
      .all(fromIndex, toIndex)
      .map(({ position, likeness }) => ({ index: Number(position), likeness: String(likeness) }));
  }

  countEndings(fromIndex: number, toIndex: number): CountedEndings[] {
    return this.#endings.all(fromIndex, toIndex).map(describeEndings);
  }
}

function describeEndings({ ending, named, count, first, last }: Row): CountedEndings {
  const [kindCode = 0, resultCode = 0] = ending as Uint8Array;
  const [tool, code, event] = JSON.parse(String(named)) as (string | null)[];
  return {
    ...readEnding(kindCode, resultCode),
    tool: tool ?? '',
    ...(typeof code === 'string' ? { refusalCode: code } : {}),
    ...(typeof event === 'string' ? { event } : {}),
    ...{ count: Number(count), firstMs: readTime(first), lastMs: readTime(last) },
  };
}

function readTime(bigEndian: Row[string] | undefined): number {
  return Number(Buffer.from(bigEndian as Uint8Array).readBigUInt64BE());
}
