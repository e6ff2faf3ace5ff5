import type {
  ApprovalTask,
  ConsentUse,
  Decision,
  NewApproval,
  NewPlan,
  Plan,
  PlanDecision,
  StandingApproval,
} from '../../../call/approval.ts';
import { ownJson } from '../../../call/redacted.ts';
import type { Aged, LogEntry } from '../../stores.ts';
import { ApprovalReader } from './approval-reader.ts';
import type { Database, Statement } from '../database.ts';
import type { LogAppender } from '../log/log-appender.ts';

const mostRuns = 20;
/** A bound, so that calls do not wait long for the writer when thousands are due at once. */
const mostAged = 250;

/** Approvals, tokens and plans, inside the writer's transaction. */
export class ApprovalWriter {
  readonly #read: ApprovalReader;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #log: LogAppender;

  constructor(database: Database, log: LogAppender) {
    this.#log = log;
    this.#read = new ApprovalReader(database);
    this.#sql = prepare(database);
  }

  open(task: NewApproval): ApprovalTask {
    const { id, sessionId, binding, effectSha256, createdAtMs, remindAtMs, expiresAtMs, requestId } = task;
    const pending = this.#read.findByBinding(sessionId, binding);
    if (pending?.status === 'pending' && pending.expiresAtMs > createdAtMs) {
      const isNew = this.#sql.join.run(pending.id, requestId) === 1;
      if (isNew) this.#sql.wantMore.run(pending.id, mostRuns);
      return this.#mustFind(pending.id);
    }
    const row = [id, sessionId, binding, JSON.stringify(task), effectSha256, createdAtMs, remindAtMs, expiresAtMs];
    this.#sql.open.run(...row);
    this.#sql.join.run(id, requestId);
    return this.#mustFind(id);
  }

  decide({ taskId, approved, by, byAgent, atMs, effectSha256, runs = 1, note }: Decision): ApprovalTask | undefined {
    const decision = [approved ? 'approved' : 'denied', approved ? runs : 0, atMs, by, byAgent ? 1 : 0, note ?? null];
    const changed = this.#sql.decide.run(...decision, taskId, effectSha256, atMs);
    return changed === 1 ? this.#mustFind(taskId) : undefined;
  }

  noteTold(taskId: string, nowMs: number): void {
    this.#sql.noteTold.run(nowMs, taskId);
  }

  age(nowMs: number): Aged {
    const take = (due: Statement, mark: Statement): string[] =>
      due.all(nowMs).map((row) => {
        const id = String(row['id']);
        mark.run(nowMs, id);
        return id;
      });
    const { dueToExpire, expire, dueToRemind, remind, plansDueToExpire, expirePlan } = this.#sql;
    const expired = take(dueToExpire, expire).map((id) => this.#mustFind(id));
    const expiredPlans = take(plansDueToExpire, expirePlan).flatMap((id) => this.#read.findPlan(id) ?? []);
    for (const task of expired) this.#log.append(expiryEntry(task, nowMs));
    for (const plan of expiredPlans) this.#log.append(planExpiryEntry(plan, nowMs));
    return { expired, reminders: take(dueToRemind, remind).map((id) => this.#mustFind(id)), expiredPlans };
  }

  /** Whether the consent is still valid. Nothing can happen between this and `use`. */
  isUsable(use: ConsentUse, nowMs: number): boolean {
    switch (use.kind) {
      case 'task': {
        const task = this.#read.find(use.taskId);
        return task !== undefined && task.binding === use.binding && task.runsLeft > 0 && task.status === 'approved';
      }
      case 'standing':
        return this.#sql.isStanding.get(use.standingId, nowMs) !== undefined;
      case 'token': {
        const used = this.#sql.findToken.get(use.tokenId);
        if (use.expiresAtMs <= nowMs || used?.['revoked'] === 1) return false;
        if (use.step === undefined) return used === undefined || use.reusable;
        return (
          this.#read.findPlan(use.step.planId)?.approvedSteps.at(this.#startedOf(use.step.planId)) === use.step.index
        );
      }
    }
  }

  use(use: ConsentUse): void {
    switch (use.kind) {
      case 'task':
        return void this.#sql.useRun.run(use.taskId);
      case 'standing':
        return void this.#sql.useStanding.run(use.standingId);
      case 'token':
        this.#sql.useToken.run(use.tokenId, 0, use.expiresAtMs);
        if (use.step !== undefined) this.#sql.startStep.run(use.step.planId);
    }
  }

  revokeToken(tokenId: string, expiresAtMs: number): void {
    this.#sql.revokeToken.run(tokenId, 1, expiresAtMs);
  }

  grantStanding(standing: StandingApproval): void {
    const { id, sessionId, grantedAtMs, expiresAtMs, usesLeft } = standing;
    this.#sql.grantStanding.run(id, sessionId, JSON.stringify(standing), grantedAtMs, expiresAtMs, usesLeft ?? null);
  }

  revokeStanding(id: string, nowMs: number): boolean {
    return this.#sql.revokeStanding.run(nowMs, id, nowMs) === 1;
  }

  propose(plan: NewPlan): void {
    const { id, sessionId, createdAtMs, expiresAtMs } = plan;
    this.#sql.propose.run(id, sessionId, JSON.stringify(plan), createdAtMs, expiresAtMs);
  }

  decidePlan({ planId, approvedSteps, by, atMs, note }: PlanDecision): Plan | undefined {
    const status = approvedSteps.length > 0 ? 'approved' : 'denied';
    const row = [status, JSON.stringify(approvedSteps), by, atMs, note ?? null, planId, atMs];
    return this.#sql.decidePlan.run(...row) === 1 ? this.#read.findPlan(planId) : undefined;
  }

  noteStepEnded(planId: string, nowMs: number): void {
    this.#sql.endStep.run(nowMs, planId);
  }

  dropOldTokens(nowMs: number): void {
    this.#sql.dropTokens.run(nowMs);
  }

  #startedOf(planId: string): number {
    return this.#read.findPlan(planId)?.started ?? -1;
  }

  #mustFind(id: string): ApprovalTask {
    const task = this.#read.find(id);
    if (task === undefined) throw new Error(`approval ${id} is gone`);
    return task;
  }
}

function expiryEntry({ id, callId, sessionId, tool, agent }: ApprovalTask, timeMs: number): LogEntry {
  const payload = ownJson({ event: 'approval_expired', task: id, tool, agent });
  return { kind: 'event', result: 'denied', timeMs, callId, sessionId, payload };
}

function planExpiryEntry({ id, sessionId, agent, steps, traceId }: Plan, timeMs: number): LogEntry {
  const payload = ownJson({ event: 'plan_expired', plan: id, agent, steps: steps.length, trace_id: traceId });
  return { kind: 'event', result: 'denied', timeMs, sessionId, payload };
}

function prepare(database: Database) {
  return {
    open: database.prepare(
      `INSERT INTO approvals
         (id, session_id, binding, task, effect_sha256, status, created_at_ms, remind_at_ms, expires_at_ms)
       VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?)`,
    ),
    join: database.prepare('INSERT OR IGNORE INTO approval_requests (approval_id, request_id) VALUES (?, ?)'),
    wantMore: database.prepare('UPDATE approvals SET wanted = wanted + 1 WHERE id = ? AND wanted < ?'),
    decide: database.prepare(
      `UPDATE approvals SET status = ?, runs_left = MIN(wanted, ?), decided_at_ms = ?, decided_by = ?,
         decided_by_agent = ?, note = ?
       WHERE id = ? AND status = 'pending' AND effect_sha256 = ? AND expires_at_ms > ?`,
    ),
    noteTold: database.prepare('UPDATE approvals SET called_back_at_ms = ? WHERE id = ?'),
    dueToExpire: database.prepare(
      `SELECT id FROM approvals INDEXED BY approvals_to_expire WHERE status = 'pending' AND expires_at_ms <= ?
       ORDER BY expires_at_ms LIMIT ${mostAged}`,
    ),
    expire: database.prepare(
      `UPDATE approvals SET status = 'expired', decided_at_ms = ?, decided_by = 'timeout' WHERE id = ?`,
    ),
    dueToRemind: database.prepare(
      `SELECT id FROM approvals INDEXED BY approvals_to_remind
       WHERE status = 'pending' AND reminded_at_ms IS NULL AND remind_at_ms <= ?
       ORDER BY remind_at_ms LIMIT ${mostAged}`,
    ),
    remind: database.prepare('UPDATE approvals SET reminded_at_ms = ? WHERE id = ?'),
    useRun: database.prepare(
      `UPDATE approvals SET runs_left = runs_left - 1, status = CASE runs_left WHEN 1 THEN 'used' ELSE status END
       WHERE id = ?`,
    ),
    isStanding: database.prepare(
      `SELECT 1 FROM standing_approvals
       WHERE id = ? AND revoked_at_ms IS NULL AND expires_at_ms > ? AND (uses_left IS NULL OR uses_left > 0)`,
    ),
    useStanding: database.prepare('UPDATE standing_approvals SET uses_left = uses_left - 1 WHERE id = ?'),
    grantStanding: database.prepare(
      `INSERT INTO standing_approvals (id, session_id, standing, granted_at_ms, expires_at_ms, uses_left)
       VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    revokeStanding: database.prepare(
      `UPDATE standing_approvals SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL AND expires_at_ms > ?`,
    ),
    findToken: database.prepare('SELECT revoked FROM used_tokens WHERE id = ?'),
    useToken: database.prepare('INSERT OR IGNORE INTO used_tokens (id, revoked, expires_at_ms) VALUES (?, ?, ?)'),
    revokeToken: database.prepare('INSERT OR REPLACE INTO used_tokens (id, revoked, expires_at_ms) VALUES (?, ?, ?)'),
    dropTokens: database.prepare('DELETE FROM used_tokens WHERE expires_at_ms <= ?'),
    propose: database.prepare(
      `INSERT INTO plans (id, session_id, plan, status, created_at_ms, expires_at_ms) VALUES (?, ?, ?, 'pending', ?, ?)`,
    ),
    decidePlan: database.prepare(
      `UPDATE plans SET status = ?, approved_steps = ?, decided_by = ?, decided_at_ms = ?, note = ?
       WHERE id = ? AND status = 'pending' AND expires_at_ms > ?`,
    ),
    plansDueToExpire: database.prepare(
      `SELECT id FROM plans INDEXED BY plans_to_expire WHERE status = 'pending' AND expires_at_ms <= ?
       ORDER BY expires_at_ms LIMIT ${mostAged}`,
    ),
    expirePlan: database.prepare(
      `UPDATE plans SET status = 'expired', decided_at_ms = ?, decided_by = 'timeout' WHERE id = ?`,
    ),
    startStep: database.prepare('UPDATE plans SET started = started + 1 WHERE id = ?'),
    endStep: database.prepare('UPDATE plans SET last_outcome_at_ms = ? WHERE id = ?'),
  };
}
