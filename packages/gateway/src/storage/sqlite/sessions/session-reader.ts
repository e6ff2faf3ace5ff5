import type { Door } from '../../../call/call.ts';
import type { Budget, Lease, LeaseScope, Principal, Session, Spending } from '../../../call/session.ts';
import type { Database, Row, Statement } from '../database.ts';

export interface KnownSession {
  readonly session: Session;
  readonly tokenSha256: string;
}

/**
 * Reads sessions together with their newest lease. An index only says where to look; the rows count, because they are
 * authenticated.
 */
export class SessionReader {
  readonly #byToken: Statement;
  readonly #byId: Statement;
  readonly #all: Statement;
  readonly #live: Statement;
  readonly #ended: Statement;
  readonly #newestLease: Statement;
  readonly #lease: Statement;
  readonly #leases: Statement;

  constructor(database: Database) {
    this.#byToken = database.prepare('SELECT id FROM sessions WHERE token_sha256 = ?');
    this.#byId = database.prepare('SELECT * FROM sessions WHERE id = ?');
    this.#all = database.prepare('SELECT * FROM sessions ORDER BY created_at_ms, id');
    this.#live = database.prepare(`SELECT * FROM sessions WHERE status <> 'ended' ORDER BY created_at_ms, id`);
    this.#ended = database.prepare(
      `SELECT * FROM sessions WHERE status = 'ended' ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
    );
    this.#leases = database.prepare('SELECT * FROM leases WHERE session_id = ? ORDER BY granted_at_ms, id');
    this.#lease = database.prepare('SELECT * FROM leases WHERE id = ?');
    this.#newestLease = database.prepare(
      'SELECT id FROM leases WHERE session_id = ? ORDER BY ended_at_ms IS NULL DESC, granted_at_ms DESC, id DESC LIMIT 1',
    );
  }

  findByToken(tokenSha256: string): Session | undefined {
    const row = this.#byToken.get(tokenSha256);
    const session = row && this.#byId.get(row['id'] as string);
    return session?.['token_sha256'] === tokenSha256 ? this.#read(session) : undefined;
  }

  findById(id: string): Session | undefined {
    return this.#read(this.#byId.get(id));
  }

  list(): readonly Session[] {
    return this.#all.all().flatMap((row) => this.#read(row) ?? []);
  }

  /** For the snapshot: those that have not ended, and the newest of those that have. */
  listKnown(mostEnded: number): readonly KnownSession[] {
    const rows = [...this.#ended.all(mostEnded).toReversed(), ...this.#live.all()];
    return rows.flatMap((row) => this.#readKnown(row) ?? []);
  }

  findKnown(id: string): KnownSession | undefined {
    return this.#readKnown(this.#byId.get(id));
  }

  listLeases(sessionId: string): readonly Lease[] {
    return this.#leases.all(sessionId).map(readLease);
  }

  #readKnown(row: Row | undefined): KnownSession | undefined {
    const session = this.#read(row);
    return session && { session, tokenSha256: String(row?.['token_sha256']) };
  }

  #read(row: Row | undefined): Session | undefined {
    if (row === undefined) return undefined;
    const newest = this.#newestLease.get(row['id'] as string);
    const lease = newest && this.#lease.get(newest['id'] as string);
    if (lease === undefined || lease['session_id'] !== row['id']) return undefined;
    return readSession(row, readLease(lease));
  }
}

function readSession(row: Row, lease: Lease): Session {
  return {
    id: String(row['id']),
    principal: row['principal'] as Principal,
    agent: String(row['agent']),
    // An unknown status gives no permission.
    status: row['status'] === 'active' || row['status'] === 'quarantined' ? row['status'] : 'ended',
    createdAtMs: Number(row['created_at_ms']),
    ...(row['door'] === null ? {} : { door: row['door'] as Door }),
    ...optional('expiresAtMs', row['expires_at_ms']),
    workingDirectory: String(row['working_directory']),
    ...(row['workspace'] === null ? {} : { workspace: String(row['workspace']) }),
    ...(row['callback_url'] === null ? {} : { callbackUrl: String(row['callback_url']) }),
    lease,
    budget: readBudget(row),
    spent: readSpending(row),
  };
}

function readLease(row: Row): Lease {
  return {
    ...(JSON.parse(String(row['scope'])) as LeaseScope),
    id: String(row['id']),
    grantedAtMs: Number(row['granted_at_ms']),
    ...optional('expiresAtMs', row['expires_at_ms']),
    ...optional('endedAtMs', row['ended_at_ms']),
    budget: readBudget(row),
    spent: readSpending(row),
  };
}

function readBudget(row: Row): Budget {
  return {
    ...optional('calls', row['max_calls']),
    ...optional('activeMs', row['max_active_ms']),
    ...optional('tokens', row['max_tokens']),
    ...optional('costMicros', row['max_cost_micros']),
  };
}

function readSpending(row: Row): Spending {
  return {
    calls: Number(row['calls']),
    activeMs: Number(row['active_ms']),
    tokens: Number(row['tokens']),
    costMicros: Number(row['cost_micros']),
  };
}

function optional<Name extends string>(name: Name, value: Row[string] | undefined): { [Key in Name]?: number } {
  return (value === null || value === undefined ? {} : { [name]: Number(value) }) as { [Key in Name]?: number };
}
