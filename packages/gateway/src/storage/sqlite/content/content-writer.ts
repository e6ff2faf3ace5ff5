import type { Artifact, ContentGrant } from '../../stores.ts';
import type { Database, Statement } from '../database.ts';

/** The writing half of the content index, inside the writer's transaction. */
export class ContentWriter {
  readonly #upsert: Statement;
  readonly #grant: Statement;
  readonly #forget: Statement;
  readonly #find: Statement;
  readonly #publish: Statement;

  constructor(database: Database) {
    this.#upsert = database.prepare(
      `INSERT INTO content (hash, size_bytes, last_used_ms) VALUES (?, ?, ?)
       ON CONFLICT (hash) DO UPDATE SET last_used_ms = max(last_used_ms, excluded.last_used_ms)`,
    );
    this.#grant = database.prepare('INSERT OR IGNORE INTO content_grants (session_id, hash) VALUES (?, ?)');
    this.#forget = database.prepare(
      'DELETE FROM content WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM artifacts WHERE content_hash = hash)',
    );
    this.#find = database.prepare('SELECT 1 FROM content WHERE hash = ?');
    this.#publish = database.prepare(
      `INSERT INTO artifacts (id, content_hash, size_bytes, category, metadata, session_id, agent, published_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    );
  }

  record({ sessionId, hash, sizeBytes, nowMs }: ContentGrant): void {
    this.#upsert.run(hash, sizeBytes, nowMs);
    this.#grant.run(sessionId, hash);
  }

  forget(hash: string): boolean {
    this.#forget.run(hash);
    return this.#find.get(hash) === undefined;
  }

  publish(artifact: Artifact): 'published' | 'exists' {
    const { id, contentHash, sizeBytes, category, metadata, sessionId, agent, publishedAtMs } = artifact;
    const row = [id, contentHash, sizeBytes, category, JSON.stringify(metadata), sessionId, agent, publishedAtMs];
    return this.#publish.run(...row) === 1 ? 'published' : 'exists';
  }
}
