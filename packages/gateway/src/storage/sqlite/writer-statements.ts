import type { Database } from './database.ts';

export type WriterStatements = ReturnType<typeof prepareWriterStatements>;

/** The SQL of the writer, prepared once. */
export function prepareWriterStatements(database: Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    dataVersion: database.prepare('PRAGMA data_version'),
    claimKey: database.prepare(
      `INSERT INTO dedupe (session_id, key, arguments_sha256, call_id, state, expires_at_ms)
       VALUES (?, ?, ?, ?, 'running', ?)
       ON CONFLICT (session_id, key) DO UPDATE SET arguments_sha256 = excluded.arguments_sha256,
         call_id = excluded.call_id, state = 'running', sealed = NULL, kept_hash = NULL, kept_bytes = NULL,
         expires_at_ms = excluded.expires_at_ms
       WHERE dedupe.expires_at_ms <= ?
         OR (? = 1 AND dedupe.state = 'unknown' AND dedupe.arguments_sha256 = excluded.arguments_sha256)`,
    ),
    keepOutput: database.prepare(`UPDATE dedupe SET state = 'succeeded', sealed = ? WHERE session_id = ? AND key = ?`),
    keepReference: database.prepare(
      `UPDATE dedupe SET state = 'succeeded', kept_hash = ?, kept_bytes = ? WHERE session_id = ? AND key = ?`,
    ),
    keepUnknown: database.prepare(`UPDATE dedupe SET state = 'unknown' WHERE call_id = ? AND state = 'running'`),
    freeKey: database.prepare(`DELETE FROM dedupe WHERE call_id = ? AND state = 'running'`),
    dropExpiredKeys: database.prepare('DELETE FROM dedupe WHERE expires_at_ms <= ?'),
    isRewriteDue: database.prepare(`SELECT 1 FROM settings WHERE name = 'rewrite_due'`),
    noteRewriteDue: database.prepare(`INSERT OR IGNORE INTO settings (name, value) VALUES ('rewrite_due', '1')`),
    noteRewritten: database.prepare(`DELETE FROM settings WHERE name = 'rewrite_due'`),
    noteRulesSequence: database.prepare(
      `INSERT INTO settings (name, value) VALUES ('rules_sequence', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    ),
    setSecret: database.prepare(
      `INSERT INTO secrets (name, ciphertext, updated_at_ms) VALUES (?, ?, ?) ON CONFLICT (name)
       DO UPDATE SET ciphertext = excluded.ciphertext, updated_at_ms = excluded.updated_at_ms`,
    ),
    removeSecret: database.prepare('DELETE FROM secrets WHERE name = ?'),
    pinTool: database.prepare(
      `INSERT OR REPLACE INTO tool_pins (name, version, file_sha256, definition_sha256, accepted_at_ms, accepted_by)
       VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    unpinTool: database.prepare('DELETE FROM tool_pins WHERE name = ? AND version = ?'),
    putWorkspaceRoot: database.prepare(
      `INSERT OR REPLACE INTO workspace_roots (path, added_at_ms, added_by, rules, rules_accepted_at_ms,
         rules_accepted_by) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    removeWorkspaceRoot: database.prepare('DELETE FROM workspace_roots WHERE path = ?'),
  };
}
