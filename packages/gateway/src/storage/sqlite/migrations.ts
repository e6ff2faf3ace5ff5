import { ConfigError } from '../../call/fault.ts';
import { Database } from './database.ts';

/** One entry a version, applied in order, each in a transaction. Never edit an entry that has been released. */
const migrations: readonly string[] = [
  `
  CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE records (
    position INTEGER PRIMARY KEY,
    leaf BLOB NOT NULL,
    salt BLOB,
    payload TEXT,
    tag BLOB NOT NULL
  ) STRICT;

  CREATE TABLE checkpoints (
    size INTEGER PRIMARY KEY,
    note TEXT NOT NULL,
    frontier BLOB NOT NULL
  ) STRICT;

  CREATE TABLE open_intents (
    call_id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    time_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    agent TEXT NOT NULL,
    token_sha256 TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    working_directory TEXT NOT NULL,
    max_calls INTEGER,
    max_active_ms INTEGER,
    max_tokens INTEGER,
    max_cost_micros INTEGER,
    calls INTEGER NOT NULL DEFAULT 0,
    active_ms INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0,
    misconduct INTEGER NOT NULL DEFAULT 0,
    misconduct_since_ms INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE leases (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    scope TEXT NOT NULL,
    granted_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    ended_at_ms INTEGER,
    max_calls INTEGER,
    max_active_ms INTEGER,
    max_tokens INTEGER,
    max_cost_micros INTEGER,
    calls INTEGER NOT NULL DEFAULT 0,
    active_ms INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX leases_by_session ON leases (session_id, granted_at_ms);

  CREATE TABLE counters (
    key TEXT NOT NULL,
    window_ms INTEGER NOT NULL,
    window_start_ms INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (key, window_ms)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dedupe (
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    arguments_sha256 TEXT NOT NULL,
    call_id TEXT NOT NULL,
    state TEXT NOT NULL,
    output TEXT,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (session_id, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX dedupe_by_expiry ON dedupe (expires_at_ms);

  CREATE TABLE content (
    hash TEXT PRIMARY KEY,
    size_bytes INTEGER NOT NULL,
    last_used_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE content_grants (
    session_id TEXT NOT NULL,
    hash TEXT NOT NULL REFERENCES content (hash) ON DELETE CASCADE,
    PRIMARY KEY (session_id, hash)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX content_grants_by_hash ON content_grants (hash);

  CREATE TABLE artifacts (
    id TEXT PRIMARY KEY,
    content_hash TEXT NOT NULL REFERENCES content (hash),
    size_bytes INTEGER NOT NULL,
    category TEXT NOT NULL,
    metadata TEXT NOT NULL,
    session_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    published_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX artifacts_by_content ON artifacts (content_hash);

  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    ciphertext BLOB NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN door TEXT;
  ALTER TABLE dedupe ADD COLUMN kept_hash TEXT;
  ALTER TABLE dedupe ADD COLUMN kept_bytes INTEGER;

  CREATE TABLE tool_pins (
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    file_sha256 TEXT NOT NULL,
    definition_sha256 TEXT NOT NULL,
    accepted_at_ms INTEGER NOT NULL,
    accepted_by TEXT NOT NULL,
    PRIMARY KEY (name, version)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    binding TEXT NOT NULL,
    task TEXT NOT NULL,
    effect_sha256 TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    remind_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    wanted INTEGER NOT NULL DEFAULT 1,
    runs_left INTEGER NOT NULL DEFAULT 0,
    reminded_at_ms INTEGER,
    decided_at_ms INTEGER,
    decided_by TEXT,
    note TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX approvals_by_binding ON approvals (session_id, binding, created_at_ms);
  CREATE INDEX approvals_by_status ON approvals (status, created_at_ms);
  CREATE INDEX approvals_by_session ON approvals (session_id, status, created_at_ms);
  CREATE INDEX approvals_to_expire ON approvals (expires_at_ms) WHERE status = 'pending';
  CREATE INDEX approvals_to_remind ON approvals (remind_at_ms) WHERE status = 'pending' AND reminded_at_ms IS NULL;

  CREATE TABLE approval_requests (
    approval_id TEXT NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
    request_id TEXT NOT NULL,
    PRIMARY KEY (approval_id, request_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE standing_approvals (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    standing TEXT NOT NULL,
    granted_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    uses_left INTEGER,
    revoked_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX standing_by_session ON standing_approvals (session_id, expires_at_ms);

  CREATE TABLE used_tokens (
    id TEXT PRIMARY KEY,
    revoked INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE plans (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    plan TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    approved_steps TEXT NOT NULL DEFAULT '[]',
    started INTEGER NOT NULL DEFAULT 0,
    decided_by TEXT,
    decided_at_ms INTEGER,
    note TEXT,
    last_outcome_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX plans_by_session ON plans (session_id, created_at_ms);

  CREATE TABLE mode_changes (
    position INTEGER PRIMARY KEY,
    from_mode TEXT NOT NULL,
    to_mode TEXT NOT NULL,
    changed_by TEXT,
    cause TEXT NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE teams (
    name TEXT PRIMARY KEY,
    senior TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE members (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    team TEXT REFERENCES teams (name) ON DELETE SET NULL,
    role TEXT,
    senior TEXT,
    system_prompt TEXT,
    added_at_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE permissions (
    level TEXT NOT NULL,
    subject TEXT NOT NULL,
    tools TEXT NOT NULL,
    effect TEXT NOT NULL,
    given_by TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (level, subject, tools)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE INDEX plans_by_status ON plans (status, created_at_ms);
  CREATE INDEX plans_to_expire ON plans (expires_at_ms) WHERE status = 'pending';
  `,
  `
  ALTER TABLE approvals ADD COLUMN decided_by_agent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE approvals ADD COLUMN called_back_at_ms INTEGER;
  ALTER TABLE sessions ADD COLUMN callback_url TEXT;
  ALTER TABLE teams ADD COLUMN senior_agent TEXT;
  ALTER TABLE members ADD COLUMN senior_agent TEXT;
  `,
  `
  CREATE TABLE state (
    id INTEGER PRIMARY KEY,
    position INTEGER NOT NULL,
    labels TEXT NOT NULL,
    sealed BLOB NOT NULL
  ) STRICT;

  CREATE TABLE tool_uses (
    session_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    last_ms INTEGER NOT NULL,
    PRIMARY KEY (session_id, tool)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO tool_uses
  SELECT lower(substr(id, 1, 8) || '-' || substr(id, 9, 4) || '-' || substr(id, 13, 4) || '-' || substr(id, 17, 4)
           || '-' || substr(id, 21)), tool, ('[0x' || max(time) || ']') ->> 0
  FROM (SELECT hex(substr(leaf, 29, 16)) AS id, hex(substr(leaf, 5, 8)) AS time,
          iif(json_valid(payload), payload ->> 'tool', NULL) AS tool
        FROM records WHERE substr(leaf, 2, 1) = x'01')
  WHERE tool IS NOT NULL GROUP BY id, tool;

  CREATE INDEX records_by_call ON records (substr(leaf, 13, 16));
  `,
  `
  ALTER TABLE sessions ADD COLUMN workspace TEXT;

  CREATE TABLE workspace_roots (
    path TEXT PRIMARY KEY,
    added_at_ms INTEGER NOT NULL,
    added_by TEXT NOT NULL,
    rules BLOB,
    rules_accepted_at_ms INTEGER,
    rules_accepted_by TEXT
  ) STRICT, WITHOUT ROWID;
  `,
  `
  DROP TABLE IF EXISTS open_intents;
  ALTER TABLE state ADD COLUMN open_from INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE state ADD COLUMN tallies TEXT NOT NULL DEFAULT '';
  ALTER TABLE state ADD COLUMN tag BLOB NOT NULL DEFAULT x'';
  `,
  `
  CREATE INDEX approvals_by_effect ON approvals (session_id, effect_sha256) WHERE status = 'pending';
  `,
  `
  CREATE TABLE journal (
    position INTEGER PRIMARY KEY,
    call_id TEXT NOT NULL,
    parent_call_id TEXT,
    session_id TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    agent TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    path TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    kept TEXT,
    moved_to TEXT
  ) STRICT;
  CREATE INDEX journal_by_call ON journal (call_id);
  CREATE INDEX journal_by_parent ON journal (parent_call_id) WHERE parent_call_id IS NOT NULL;
  CREATE INDEX journal_by_session ON journal (session_id);
  CREATE INDEX journal_by_trace ON journal (trace_id);
  CREATE INDEX journal_by_path ON journal (path);
  CREATE INDEX journal_by_time ON journal (at_ms);
  `,
  `
  CREATE TABLE anomalies (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    began_at_ms INTEGER NOT NULL,
    last_at_ms INTEGER NOT NULL,
    sightings INTEGER NOT NULL,
    summary TEXT NOT NULL,
    calls TEXT NOT NULL,
    senior TEXT NOT NULL,
    done TEXT NOT NULL,
    told_at_ms INTEGER,
    seen_by TEXT,
    seen_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX anomalies_by_time ON anomalies (began_at_ms, id);
  CREATE INDEX anomalies_by_agent ON anomalies (agent, began_at_ms, id);
  `,
  `
  CREATE TABLE erasures (
    id TEXT PRIMARY KEY,
    erasure TEXT NOT NULL,
    status TEXT NOT NULL,
    due_at_ms INTEGER NOT NULL,
    started_at_ms INTEGER,
    until_index INTEGER NOT NULL DEFAULT 0,
    next_index INTEGER NOT NULL DEFAULT 0,
    erased_records INTEGER NOT NULL DEFAULT 0,
    ended_at_ms INTEGER,
    cancelled_by TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE removals (
    position INTEGER PRIMARY KEY,
    kind TEXT NOT NULL
  ) STRICT;

  -- Their outputs were kept in the clear. That a call has run is still known, and keeps it from running twice.
  UPDATE dedupe SET state = 'unknown', output = NULL WHERE output IS NOT NULL;
  ALTER TABLE dedupe DROP COLUMN output;
  ALTER TABLE dedupe ADD COLUMN sealed BLOB;
  `,
  `
  DROP INDEX records_by_call;
  CREATE TABLE record_calls (
    call_id BLOB NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (call_id, position)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO record_calls
  SELECT substr(leaf, 13, 16), position FROM records
  WHERE position < (SELECT coalesce(max(size), 0) FROM checkpoints) AND substr(leaf, 13, 16) <> zeroblob(16)
  ORDER BY 1, 2;
  `,
];

export const schemaVersion = migrations.length;

/** Which version the database has. Refuses one that a newer program has written. */
export function readSchemaVersion(database: Database): number {
  const found = database.readNumber('PRAGMA user_version');
  if (found > schemaVersion) {
    throw new ConfigError(
      `The database has schema version ${found}; this program knows versions up to ${schemaVersion}.`,
      'Start the newer version of Sallyport that wrote it, or choose another folder with SALLYPORT_HOME.',
    );
  }
  return found;
}

/** Brings the schema up to date, inside the caller's transaction. */
export function migrate(database: Database): void {
  for (const sql of migrations.slice(readSchemaVersion(database))) database.execute(sql);
  database.execute(`PRAGMA user_version = ${schemaVersion}`);
}

/**
 * Refuses tables, triggers and views that are not ours: a trigger of somebody else would run inside our own writes.
 */
export function checkSchema(database: Database): void {
  const expected = Database.openInMemory();
  try {
    migrate(expected);
    const [found, ours] = [readSchema(database), readSchema(expected)];
    for (const [name, sql] of found) if (ours.get(name) !== sql) throw foreign(name);
    for (const name of ours.keys()) if (!found.has(name)) throw foreign(name);
  } finally {
    expected.close();
  }
}

function readSchema(database: Database): Map<string, string> {
  const rows = database.prepare(
    `SELECT type || ' ' || name AS name, tbl_name || ' ' || coalesce(sql, '') AS made FROM sqlite_schema`,
  );
  return new Map(rows.all().map(({ name, made }) => [String(name), String(made)]));
}

function foreign(name: string): ConfigError {
  return new ConfigError(
    `The database was changed by something other than Sallyport: the ${name} is not as Sallyport makes it.`,
    'Restore sallyport.db from a backup.',
  );
}
