import { ownJson } from '../../call/redacted.ts';
import type { Admission, Admitted, LogEntry, Misconduct, Settlement } from '../stores.ts';
import type { ApprovalWriter } from './approvals/approval-writer.ts';
import type { Tallies } from './counts/tallies.ts';
import type { Database } from './database.ts';
import type { LogAppender } from './log/log-appender.ts';
import type { OpenIntents } from './log/open-intents.ts';
import type { Recorded } from './operation.ts';
import type { SessionWriter } from './sessions/session-writer.ts';
import type { StateVersions } from './state/state-versions.ts';

interface CallState {
  readonly database: Database;
  readonly log: LogAppender;
  readonly intents: OpenIntents;
  readonly tallies: Tallies;
  readonly versions: StateVersions;
  readonly approvals: ApprovalWriter;
  readonly sessions: SessionWriter;
}

/** Calls as they are admitted, settled and recorded, inside the writer's transaction. */
export class CallWriter {
  readonly #log: LogAppender;
  readonly #intents: OpenIntents;
  readonly #tallies: Tallies;
  readonly #versions: StateVersions;
  readonly #approvals: ApprovalWriter;
  readonly #sessions: SessionWriter;
  readonly #keys: ReturnType<typeof prepareDedupeKeys>;

  constructor({ database, log, intents, tallies, versions, approvals, sessions }: CallState) {
    this.#log = log;
    this.#intents = intents;
    this.#tallies = tallies;
    this.#versions = versions;
    this.#approvals = approvals;
    this.#sessions = sessions;
    this.#keys = prepareDedupeKeys(database);
  }

  admit(admission: Admission, nowMs: number): Admitted {
    const { sessionId, leaseId, intent, dedupe, consent } = admission;
    const obstacle = this.#tallies.ledger.obstacle(sessionId, leaseId, nowMs);
    if (typeof obstacle === 'string') return { admitted: false, because: obstacle };
    if (obstacle !== undefined) return { admitted: false, because: 'budget', spent: obstacle };
    const what = this.#versions.changedSince(admission.basedOn, sessionId);
    if (what !== undefined) return { admitted: false, because: 'stale', what };
    if (consent !== undefined && !this.#approvals.isUsable(consent, nowMs))
      return { admitted: false, because: 'consent' };
    if (dedupe !== undefined && !this.#claimKey(admission, dedupe, nowMs))
      return { admitted: false, because: 'dedupe' };
    const reserved = this.#tallies.counters.reserve(admission.reservations, nowMs);
    if (!reserved.ok) {
      if (dedupe !== undefined) this.#keys.free.run(intent.callId);
      return { admitted: false, because: 'rate', rule: reserved.rule, retryAfterMs: reserved.retryAfterMs };
    }
    if (consent !== undefined) this.#approvals.use(consent);
    this.#tallies.ledger.countCall(sessionId, leaseId);
    this.#tallies.uses.note(sessionId, admission.tool, intent.timeMs);
    const intentIndex = this.#log.append(intent);
    this.#intents.open(intent.callId, intentIndex);
    return { admitted: true, intentIndex };
  }

  settle({ outcome, charge, misconduct, dedupe, planId }: Settlement): Recorded {
    this.#intents.close(outcome.callId);
    if (dedupe?.kept !== undefined) {
      const { hash, sizeBytes } = dedupe.kept;
      this.#keys.keepReference.run(hash, sizeBytes, dedupe.sessionId, dedupe.key);
    } else if (dedupe?.sealedOutput !== undefined) {
      this.#keys.keepOutput.run(dedupe.sealedOutput, dedupe.sessionId, dedupe.key);
    } else if (outcome.result === 'unknown' || dedupe?.isUnknown === true) {
      this.#keys.keepUnknown.run(outcome.callId);
    } else if (dedupe !== undefined) {
      this.#keys.free.run(outcome.callId);
    }
    if (planId !== undefined) this.#approvals.noteStepEnded(planId, outcome.timeMs);
    if (charge !== undefined) this.#tallies.ledger.charge(charge);
    return this.record(outcome, misconduct);
  }

  /** A session that this record puts into quarantine gets a record of that too, in the same commit. */
  record(entry: LogEntry, misconduct: Misconduct | undefined): Recorded {
    const index = this.#log.append(entry);
    if (misconduct === undefined) return { index };
    const isTooMuch = this.#sessions.blame(misconduct, entry.timeMs);
    if (!isTooMuch) return { index };
    const { sessionId } = misconduct;
    const payload = ownJson({ event: 'session_quarantined', because_of: index });
    this.#log.append({ kind: 'event', result: 'denied', timeMs: entry.timeMs, sessionId, payload });
    return { index, quarantined: sessionId };
  }

  dropExpiredKeys(nowMs: number): void {
    this.#keys.dropExpired.run(nowMs);
  }

  #claimKey({ sessionId, intent }: Admission, dedupe: NonNullable<Admission['dedupe']>, nowMs: number): boolean {
    const { key, argumentsSha256, expiresAtMs, isRepeatable = false } = dedupe;
    const claim = [sessionId, key, argumentsSha256, intent.callId, expiresAtMs, nowMs, isRepeatable ? 1 : 0] as const;
    return this.#keys.claim.run(...claim) === 1;
  }
}

function prepareDedupeKeys(database: Database) {
  return {
    claim: database.prepare(
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
    free: database.prepare(`DELETE FROM dedupe WHERE call_id = ? AND state = 'running'`),
    dropExpired: database.prepare('DELETE FROM dedupe WHERE expires_at_ms <= ?'),
  };
}
