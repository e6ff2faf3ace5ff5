import type {
  ApprovalStatus,
  ApprovalTask,
  NewApproval,
  NewPlan,
  Plan,
  StandingApproval,
} from '../../../call/approval.ts';
import type { PlanFilter } from '../../stores.ts';
import type { Database, Row, Statement } from '../database.ts';

/** Reads approvals, standing approvals and plans, on any connection. */
export class ApprovalReader {
  readonly #find: Statement;
  readonly #findByBinding: Statement;
  readonly #lists: Readonly<Record<'all' | 'status' | 'session' | 'sessionStatus', Statement>>;
  readonly #after: Statement;
  readonly #countPending: Statement;
  readonly #countAllPending: Statement;
  readonly #pendingLike: Statement;
  readonly #forAgent: Statement;
  readonly #untold: Statement;
  readonly #nextExpiry: Statement;
  readonly #nextReminder: Statement;
  readonly #standing: Statement;
  readonly #findPlan: Statement;
  readonly #findToken: Statement;
  readonly #nextPlanExpiry: Statement;
  readonly #plans: Readonly<Record<'all' | 'status' | 'session', Statement>>;

  constructor(database: Database) {
    this.#find = database.prepare('SELECT * FROM approvals WHERE id = ?');
    this.#findByBinding = database.prepare(
      'SELECT * FROM approvals WHERE session_id = ? AND binding = ? ORDER BY created_at_ms DESC, id DESC LIMIT 1',
    );
    // One statement for each filter: a single one with optional conditions could use no index.
    const list = (conditions: string): Statement =>
      database.prepare(`SELECT * FROM approvals ${conditions} ORDER BY created_at_ms DESC, id DESC LIMIT ?`);
    this.#lists = {
      all: list(''),
      status: list('WHERE status = ?'),
      session: list('WHERE session_id = ?'),
      sessionStatus: list('WHERE session_id = ? AND status = ?'),
    };
    this.#after = database.prepare(
      `SELECT * FROM approvals INDEXED BY approvals_by_status
       WHERE status = ? AND created_at_ms >= ? AND (created_at_ms, id) > (?, ?) ORDER BY created_at_ms, id LIMIT ?`,
    );
    this.#countPending = database.prepare(
      `SELECT count(*) AS pending FROM (
         SELECT 1 FROM approvals INDEXED BY approvals_by_session WHERE session_id = ? AND status = 'pending' LIMIT ?)`,
    );
    this.#countAllPending = database.prepare(
      `SELECT count(*) AS pending FROM (
         SELECT 1 FROM approvals INDEXED BY approvals_to_expire WHERE status = 'pending' LIMIT ?)`,
    );
    this.#pendingLike = database.prepare(
      `SELECT * FROM approvals INDEXED BY approvals_by_effect
       WHERE session_id = ? AND effect_sha256 = ? AND status = 'pending'`,
    );
    this.#forAgent = list(
      `WHERE status = 'pending' AND EXISTS (SELECT 1 FROM json_each(task, '$.approvers') WHERE value = ?)`,
    );
    // Few sessions have a callback, and each has few tasks.
    this.#untold = database.prepare(
      `SELECT approvals.* FROM sessions CROSS JOIN approvals ON approvals.session_id = sessions.id
       WHERE sessions.callback_url IS NOT NULL AND sessions.status <> 'ended'
         AND approvals.decided_at_ms > ? AND approvals.called_back_at_ms IS NULL
       ORDER BY approvals.decided_at_ms LIMIT ?`,
    );
    // The planner would look at every pending row.
    this.#nextExpiry = database.prepare(
      `SELECT expires_at_ms AS next FROM approvals INDEXED BY approvals_to_expire
       WHERE status = 'pending' ORDER BY expires_at_ms LIMIT 1`,
    );
    this.#nextReminder = database.prepare(
      `SELECT remind_at_ms AS next FROM approvals INDEXED BY approvals_to_remind
       WHERE status = 'pending' AND reminded_at_ms IS NULL ORDER BY remind_at_ms LIMIT 1`,
    );
    this.#standing = database.prepare(
      `SELECT * FROM standing_approvals WHERE expires_at_ms > ? AND revoked_at_ms IS NULL AND (uses_left IS NULL OR uses_left > 0) ORDER BY granted_at_ms DESC, id DESC`,
    );
    this.#findPlan = database.prepare('SELECT * FROM plans WHERE id = ?');
    this.#findToken = database.prepare('SELECT 1 FROM used_tokens WHERE id = ?');
    const listPlans = (conditions: string): Statement =>
      database.prepare(`SELECT * FROM plans ${conditions} ORDER BY created_at_ms DESC, id DESC LIMIT ?`);
    this.#plans = {
      all: listPlans(''),
      status: listPlans('WHERE status = ?'),
      session: listPlans('WHERE session_id = ?'),
    };
    this.#nextPlanExpiry = database.prepare(
      `SELECT expires_at_ms AS next FROM plans INDEXED BY plans_to_expire
       WHERE status = 'pending' ORDER BY expires_at_ms LIMIT 1`,
    );
  }

  find(id: string): ApprovalTask | undefined {
    const row = this.#find.get(id);
    return row && taskOf(row);
  }

  findByBinding(sessionId: string, binding: string): ApprovalTask | undefined {
    const row = this.#findByBinding.get(sessionId, binding);
    return row && taskOf(row);
  }

  list(filter: {
    readonly status?: ApprovalStatus;
    readonly sessionId?: string;
    readonly limit: number;
  }): ApprovalTask[] {
    const { status, sessionId, limit } = filter;
    const { all, status: ofStatus, session, sessionStatus } = this.#lists;
    if (sessionId === undefined)
      return (status === undefined ? all.all(limit) : ofStatus.all(status, limit)).map(taskOf);
    return (status === undefined ? session.all(sessionId, limit) : sessionStatus.all(sessionId, status, limit)).map(
      taskOf,
    );
  }

  listAfter(filter: {
    readonly status: ApprovalStatus;
    readonly after?: Pick<ApprovalTask, 'id' | 'createdAtMs'>;
    readonly limit: number;
  }): ApprovalTask[] {
    const { status, after: { createdAtMs, id } = { createdAtMs: 0, id: '' }, limit } = filter;
    return this.#after.all(status, createdAtMs, createdAtMs, id, limit).map(taskOf);
  }

  countPending(sessionId: string, most: number): number {
    return Number(this.#countPending.get(sessionId, most)?.['pending'] ?? 0);
  }

  countAllPending(most: number): number {
    return Number(this.#countAllPending.get(most)?.['pending'] ?? 0);
  }

  listPendingLike(sessionId: string, effectSha256: string): ApprovalTask[] {
    return this.#pendingLike.all(sessionId, effectSha256).map(taskOf);
  }

  listForAgent({ approver, limit }: { readonly approver: string; readonly limit: number }): ApprovalTask[] {
    return this.#forAgent.all(approver, limit).map(taskOf);
  }

  listUntold({ endedAfterMs, limit }: { readonly endedAfterMs: number; readonly limit: number }): ApprovalTask[] {
    return this.#untold.all(endedAfterMs, limit).map(taskOf);
  }

  nextDeadlineMs(): number | undefined {
    const statements = [this.#nextExpiry, this.#nextReminder, this.#nextPlanExpiry];
    const deadlines = statements.map((statement) => statement.get()?.['next']);
    const next = Math.min(...deadlines.filter((deadline) => typeof deadline === 'number'));
    return Number.isFinite(next) ? next : undefined;
  }

  /** Those that can still be used, newest first. */
  listStanding(): StandingApproval[] {
    return this.#standing.all(Date.now()).map((row) => {
      const { usesLeft, ...standing } = JSON.parse(String(row['standing'])) as StandingApproval;
      return usesLeft === undefined ? standing : { ...standing, usesLeft: Number(row['uses_left']) };
    });
  }

  isTokenUsed(id: string): boolean {
    return this.#findToken.get(id) !== undefined;
  }

  findPlan(id: string): Plan | undefined {
    const row = this.#findPlan.get(id);
    return row && planOf(row);
  }

  listPlans({ sessionId, status, limit }: PlanFilter): Plan[] {
    const { all, status: ofStatus, session } = this.#plans;
    if (sessionId !== undefined) return session.all(sessionId, limit).map(planOf);
    return (status === undefined ? all.all(limit) : ofStatus.all(status, limit)).map(planOf);
  }
}

function taskOf(row: Row): ApprovalTask {
  return {
    ...(JSON.parse(String(row['task'])) as NewApproval),
    status: row['status'] as ApprovalStatus,
    wanted: Number(row['wanted']),
    runsLeft: Number(row['runs_left']),
    ...decisionOf(row),
    ...(row['decided_by_agent'] === 1 ? { decidedByAgent: true as const } : {}),
    ...(row['reminded_at_ms'] === null ? {} : { remindedAtMs: Number(row['reminded_at_ms']) }),
  };
}

function planOf(row: Row): Plan {
  return {
    ...(JSON.parse(String(row['plan'])) as NewPlan),
    status: row['status'] as Plan['status'],
    approvedSteps: JSON.parse(String(row['approved_steps'])) as number[],
    started: Number(row['started']),
    ...decisionOf(row),
    ...(row['last_outcome_at_ms'] === null ? {} : { lastOutcomeAtMs: Number(row['last_outcome_at_ms']) }),
  };
}

function decisionOf(row: Row): { decidedAtMs?: number; decidedBy?: string; note?: string } {
  const { decided_at_ms: at, decided_by: by, note } = row;
  return {
    ...(at === null ? {} : { decidedAtMs: Number(at) }),
    ...(by === null ? {} : { decidedBy: String(by) }),
    ...(note === null ? {} : { note: String(note) }),
  };
}
