import type { Budget } from '../../../call/session.ts';
import type { Misconduct, NewLease, NewSession } from '../../stores.ts';
import type { SpendingLedger } from '../counts/spending-ledger.ts';
import type { Database, Statement } from '../database.ts';

/** Misconduct that began further in the future than this was noted while the clock was wrong. */
const clockToleranceMs = 60_000;

/** Sessions and their leases, inside the writer's transaction. */
export class SessionWriter {
  readonly #ledger: SpendingLedger;
  readonly #insertSession: Statement;
  readonly #insertLease: Statement;
  readonly #end: Statement;
  readonly #endLease: Statement;
  readonly #isActive: Statement;
  readonly #blame: Statement;
  readonly #quarantine: Statement;

  constructor(database: Database, ledger: SpendingLedger) {
    this.#ledger = ledger;
    this.#insertSession = database.prepare(
      `INSERT INTO sessions (id, principal, agent, token_sha256, status, created_at_ms, expires_at_ms, working_directory,
         workspace, door, callback_url, max_calls, max_active_ms, max_tokens, max_cost_micros)
       VALUES (?, ?, ?, ?, 'active', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertLease = database.prepare(
      `INSERT INTO leases (id, session_id, scope, granted_at_ms, expires_at_ms, max_calls, max_active_ms, max_tokens,
         max_cost_micros) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#end = database.prepare(`UPDATE sessions SET status = 'ended' WHERE id = ? AND status <> 'ended'`);
    this.#endLease = database.prepare('UPDATE leases SET ended_at_ms = ? WHERE session_id = ? AND ended_at_ms IS NULL');
    this.#isActive = database.prepare(`SELECT 1 FROM sessions WHERE id = ? AND status = 'active'`);
    this.#blame = database.prepare(
      `UPDATE sessions SET
         misconduct = CASE WHEN misconduct_since_ms + ?1 <= ?2 THEN ?3 ELSE misconduct + ?3 END,
         misconduct_since_ms = CASE WHEN misconduct_since_ms + ?1 <= ?2 OR misconduct_since_ms > ?2 + ${clockToleranceMs}
           THEN ?2 ELSE misconduct_since_ms END
       WHERE id = ?4`,
    );
    this.#quarantine = database.prepare(
      `UPDATE sessions SET status = 'quarantined'
       WHERE id = ? AND status = 'active' AND principal = 'agent' AND misconduct >= ?`,
    );
  }

  create(session: NewSession): void {
    const { id, principal, agent, tokenSha256, createdAtMs, workingDirectory, lease } = session;
    const expiresAtMs = session.expiresAtMs ?? null;
    const places = [workingDirectory, session.workspace ?? null, session.door ?? null, session.callbackUrl ?? null];
    const more = [...places, ...columnsOf(session.budget)];
    this.#insertSession.run(id, principal, agent, tokenSha256, createdAtMs, expiresAtMs, ...more);
    this.#addLease(id, lease, createdAtMs);
  }

  end(id: string): boolean {
    return this.#change(() => this.#end.run(id) === 1);
  }

  grantLease(sessionId: string, lease: NewLease, nowMs: number): boolean {
    return this.#change(() => {
      if (this.#isActive.get(sessionId) === undefined) return false;
      this.#endLease.run(nowMs, sessionId);
      this.#addLease(sessionId, lease, nowMs);
      return true;
    });
  }

  revokeLease(sessionId: string, nowMs: number): boolean {
    return this.#change(() => this.#endLease.run(nowMs, sessionId) > 0);
  }

  /** True when this put the session into quarantine. */
  blame({ sessionId, weight, limit, windowMs }: Misconduct, nowMs: number): boolean {
    return this.#change(() => {
      this.#blame.run(windowMs, nowMs, weight, sessionId);
      return this.#quarantine.run(sessionId, limit) === 1;
    });
  }

  /** Writes what the ledger has in memory before sessions change, and reads it again afterwards. */
  #change(change: () => boolean): boolean {
    this.#ledger.flush();
    const value = change();
    this.#ledger.forget();
    return value;
  }

  #addLease(sessionId: string, lease: NewLease, nowMs: number): void {
    const { id, expiresAtMs, budget, ...scope } = lease;
    this.#insertLease.run(id, sessionId, JSON.stringify(scope), nowMs, expiresAtMs ?? null, ...columnsOf(budget));
  }
}

function columnsOf(budget: Budget = {}): (number | null)[] {
  const { calls, activeMs, tokens, costMicros } = budget;
  return [calls ?? null, activeMs ?? null, tokens ?? null, costMicros ?? null];
}
