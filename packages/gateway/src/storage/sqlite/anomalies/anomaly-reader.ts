import type { AnomalousCall, Anomaly, AnomalyKind, AnomalyResponse } from '../../../call/anomaly.ts';
import { ownText } from '../../../call/redacted.ts';
import type { AnomalyFilter } from '../../stores.ts';
import type { Database, Row, Statement } from '../database.ts';

/** The filters of every list; an absent one is NULL. */
const filters = `(?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR session_id = ?3) AND (?4 IS NULL OR last_at_ms >= ?4)
  AND (NOT ?5 OR seen_by IS NULL) AND (NOT ?6 OR told_at_ms IS NULL)
  AND (?7 IS NULL OR (began_at_ms, id) < (SELECT began_at_ms, id FROM anomalies WHERE id = ?7))
  ORDER BY began_at_ms DESC, id DESC LIMIT ?8`;

/** The reading half of the anomalies. */
export class AnomalyReader {
  readonly #find: Statement;
  readonly #list: Statement;
  readonly #listOfAgent: Statement;

  constructor(database: Database) {
    this.#find = database.prepare('SELECT * FROM anomalies WHERE id = ?');
    this.#list = database.prepare(`SELECT * FROM anomalies WHERE ?1 IS NULL AND ${filters}`);
    this.#listOfAgent = database.prepare(`SELECT * FROM anomalies WHERE agent = ?1 AND ${filters}`);
  }

  find(id: string): Anomaly | undefined {
    const row = this.#find.get(id);
    return row && readAnomaly(row);
  }

  list({ agent, kind, sessionId, sinceMs, unseen = false, untold = false, after, limit }: AnomalyFilter) {
    const others = [kind ?? null, sessionId ?? null, sinceMs ?? null, Number(unseen), Number(untold), after ?? null];
    const statement = agent === undefined ? this.#list : this.#listOfAgent;
    return statement.all(agent ?? null, ...others, limit).map(readAnomaly);
  }
}

export function readAnomaly(row: Row): Anomaly {
  const { seen_by: seenBy, seen_at_ms: seenAtMs } = row;
  return {
    id: String(row['id']),
    kind: row['kind'] as AnomalyKind,
    detail: String(row['detail']),
    agent: String(row['agent']),
    sessionId: String(row['session_id']),
    beganAtMs: Number(row['began_at_ms']),
    lastAtMs: Number(row['last_at_ms']),
    sightings: Number(row['sightings']),
    // It was redacted before it was written.
    summary: ownText(String(row['summary'])),
    calls: JSON.parse(String(row['calls'])) as AnomalousCall[],
    senior: String(row['senior']),
    done: JSON.parse(String(row['done'])) as AnomalyResponse[],
    ...(seenBy === null ? {} : { seen: { by: String(seenBy), atMs: Number(seenAtMs) } }),
  };
}
