import type { Artifact, KnownContent } from '../../stores.ts';
import type { Database, Row, Statement } from '../database.ts';

/** The reading half of the content index. */
export class ContentReader {
  readonly #mayUse: Statement;
  readonly #list: Statement;
  readonly #artifact: Statement;
  readonly #artifacts: Statement;

  constructor(database: Database) {
    this.#mayUse = database.prepare('SELECT 1 FROM content_grants WHERE session_id = ? AND hash = ?');
    this.#list = database.prepare(
      `SELECT hash, size_bytes, last_used_ms,
         EXISTS (SELECT 1 FROM artifacts WHERE content_hash = hash) AS referenced FROM content ORDER BY hash`,
    );
    this.#artifact = database.prepare('SELECT * FROM artifacts WHERE id = ?');
    this.#artifacts = database.prepare(
      `SELECT * FROM artifacts WHERE (?1 IS NULL OR category = ?1) AND (?2 IS NULL OR session_id = ?2)
       ORDER BY published_at_ms DESC, id`,
    );
  }

  mayUse(sessionId: string, hash: string): boolean {
    return this.#mayUse.get(sessionId, hash) !== undefined;
  }

  list(): readonly KnownContent[] {
    return this.#list.all().map((row) => ({
      hash: String(row['hash']),
      sizeBytes: Number(row['size_bytes']),
      lastUsedMs: Number(row['last_used_ms']),
      referenced: row['referenced'] === 1,
    }));
  }

  findArtifact(id: string): Artifact | undefined {
    const row = this.#artifact.get(id);
    return row === undefined ? undefined : readArtifact(row);
  }

  listArtifacts(filter: { readonly category?: string; readonly sessionId?: string }): readonly Artifact[] {
    return this.#artifacts.all(filter.category ?? null, filter.sessionId ?? null).map(readArtifact);
  }
}

function readArtifact(row: Row): Artifact {
  return {
    id: String(row['id']),
    contentHash: String(row['content_hash']),
    sizeBytes: Number(row['size_bytes']),
    category: String(row['category']),
    metadata: JSON.parse(String(row['metadata'])) as string[],
    sessionId: String(row['session_id']),
    agent: String(row['agent']),
    publishedAtMs: Number(row['published_at_ms']),
  };
}
