import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { openSigner } from '../../audit/checkpoint.ts';
import type { Decision, NewApproval, NewPlan, PlanDecision, StandingApproval } from '../../model/approval.ts';
import type { OrganisationChange } from '../../model/organisation.ts';
import type {
  Admission,
  Admitted,
  Artifact,
  ContentGrant,
  LogEntry,
  Misconduct,
  ModeChange,
  NewLease,
  NewSession,
  SealedSecret,
  Settlement,
  ToolPin,
} from '../stores.ts';
import { ApprovalWriter } from './approval-writer.ts';
import { ContentWriter } from './content-writer.ts';
import { Counters } from './counters.ts';
import { Database, isConstraintViolation, isDiskFull } from './database.ts';
import { LogAppender } from './log-appender.ts';
import { migrate } from './migrations.ts';
import { ModeWriter } from './mode-writer.ts';
import { OrganisationWriter } from './organisation-writer.ts';
import { prepareWriterStatements } from './writer-statements.ts';
import { SessionWriter } from './session-writer.ts';
import { SpendingLedger } from './spending-ledger.ts';
import type { WriterStatements } from './writer-statements.ts';

export interface WriterOptions {
  readonly databaseFile: string;
  readonly signingKey: string;
  readonly origin: string;
  readonly checkpointFile: string;
  /** Space that is given up when the disk is full, so that running calls can still record their outcome. */
  readonly reserveFile: string;
  readonly reserveBytes: number;
}

export type Operation =
  | { readonly name: 'admit'; readonly admission: Admission; readonly nowMs: number }
  | { readonly name: 'settle'; readonly settlement: Settlement }
  | { readonly name: 'append'; readonly entry: LogEntry; readonly misconduct: Misconduct | undefined }
  | { readonly name: 'createSession'; readonly session: NewSession }
  | { readonly name: 'endSession'; readonly id: string }
  | { readonly name: 'grantLease'; readonly sessionId: string; readonly lease: NewLease; readonly nowMs: number }
  | { readonly name: 'revokeLease'; readonly sessionId: string; readonly nowMs: number }
  | { readonly name: 'changeMode'; readonly change: ModeChange }
  | { readonly name: 'changeOrganisation'; readonly change: OrganisationChange }
  | { readonly name: 'setSecret'; readonly secret: SealedSecret }
  | { readonly name: 'removeSecret'; readonly secretName: string }
  | { readonly name: 'openApproval'; readonly task: NewApproval }
  | { readonly name: 'decideApproval'; readonly decision: Decision }
  | { readonly name: 'ageApprovals'; readonly nowMs: number }
  | { readonly name: 'noteTold'; readonly taskId: string; readonly nowMs: number }
  | { readonly name: 'grantStanding'; readonly standing: StandingApproval }
  | { readonly name: 'revokeStanding'; readonly id: string; readonly nowMs: number }
  | { readonly name: 'proposePlan'; readonly plan: NewPlan }
  | { readonly name: 'decidePlan'; readonly decision: PlanDecision }
  | { readonly name: 'revokeToken'; readonly tokenId: string; readonly expiresAtMs: number }
  | { readonly name: 'pinTool'; readonly pin: ToolPin }
  | { readonly name: 'unpinTool'; readonly toolName: string; readonly version: string }
  | { readonly name: 'recordContent'; readonly grant: ContentGrant }
  | { readonly name: 'forgetContent'; readonly hash: string }
  | { readonly name: 'publishArtifact'; readonly artifact: Artifact };

/** `quarantined`: the session that this record put into quarantine. */
export interface Recorded {
  readonly index: number;
  readonly quarantined?: string;
}

export type Written =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string; readonly sealed: boolean };

/** Owns the writing connection. Used by one thread only; each group of operations is one commit. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #database: Database;
  readonly #log: LogAppender;
  readonly #counters: Counters;
  readonly #approvals: ApprovalWriter;
  readonly #content: ContentWriter;
  readonly #mode: ModeWriter;
  readonly #organisation: OrganisationWriter;
  readonly #sessions: SessionWriter;
  readonly #ledger: SpendingLedger;
  readonly #statements: WriterStatements;
  #sealedBecause: string | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#database = Database.openForWriting(options.databaseFile);
    migrate(this.#database);
    this.#log = new LogAppender(this.#database, openSigner(options.signingKey), options.origin, options.checkpointFile);
    this.#counters = new Counters(this.#database);
    this.#approvals = new ApprovalWriter(this.#database, this.#log);
    this.#content = new ContentWriter(this.#database);
    this.#mode = new ModeWriter(this.#database, this.#log);
    this.#organisation = new OrganisationWriter(this.#database);
    this.#sessions = new SessionWriter(this.#database);
    this.#ledger = new SpendingLedger(this.#database);
    this.#statements = prepareWriterStatements(this.#database);
    this.#setReserveAside();
    // What a former run committed but did not sign is signed before anything new comes.
    this.sign();
  }

  get sealedBecause(): string | undefined {
    return this.#sealedBecause;
  }

  get hasUnsigned(): boolean {
    return this.#log.hasUnsigned && this.#sealedBecause === undefined;
  }

  /** Runs the operations in one commit and answers each. Never throws. */
  writeGroup(operations: readonly Operation[]): Written[] {
    if (this.#sealedBecause !== undefined) return operations.map((operation) => this.#writeWhileSealed(operation));
    try {
      return this.#commit(operations);
    } catch (error) {
      // One bad operation must not fail its neighbours: run them one by one and find out whose fault it was.
      if (operations.length > 1) return operations.flatMap((operation) => this.writeGroup([operation]));
      if (!isStorageFailure(error)) return [{ ok: false, error: messageOf(error), sealed: false }];
      this.#seal(error);
      return operations.map((operation) => this.#writeWhileSealed(operation));
    }
  }

  sign(): void {
    try {
      this.#log.sign();
    } catch (error) {
      this.#seal(error);
    }
  }

  close(): void {
    if (this.#sealedBecause === undefined) {
      this.#statements.dropExpiredKeys.run(Date.now());
      this.#approvals.dropOldTokens(Date.now());
      this.sign();
    }
    this.#database.close();
  }

  #commit(operations: readonly Operation[]): Written[] {
    try {
      this.#statements.begin.run();
      const written = operations.map((operation): Written => ({ ok: true, value: this.#apply(operation) }));
      this.#counters.flush();
      this.#ledger.flush();
      this.#statements.commit.run();
      this.#log.committed();
      return written;
    } catch (error) {
      this.#log.rolledBack();
      this.#counters.forget();
      this.#ledger.forget();
      try {
        this.#statements.rollback.run();
      } catch {
        // SQLite has rolled back by itself already, as it does when the disk is full.
      }
      throw error;
    }
  }

  #apply(operation: Operation): unknown {
    switch (operation.name) {
      case 'admit':
        return this.#admit(operation.admission, operation.nowMs);
      case 'settle':
        return this.#settle(operation.settlement);
      case 'append':
        return this.#record(operation.entry, operation.misconduct);
      case 'createSession':
        return this.#sessions.create(operation.session);
      case 'endSession':
        return this.#changeSessions((sessions) => sessions.end(operation.id));
      case 'grantLease':
        return this.#changeSessions((sessions) =>
          sessions.grantLease(operation.sessionId, operation.lease, operation.nowMs),
        );
      case 'revokeLease':
        return this.#changeSessions((sessions) => sessions.revokeLease(operation.sessionId, operation.nowMs));
      case 'changeMode':
        return this.#mode.change(operation.change);
      case 'changeOrganisation':
        return this.#organisation.change(operation.change);
      case 'openApproval':
        return this.#approvals.open(operation.task);
      case 'decideApproval':
        return this.#approvals.decide(operation.decision);
      case 'ageApprovals':
        return this.#approvals.age(operation.nowMs);
      case 'noteTold':
        return this.#approvals.noteTold(operation.taskId, operation.nowMs);
      case 'grantStanding':
        return this.#approvals.grantStanding(operation.standing);
      case 'revokeStanding':
        return this.#approvals.revokeStanding(operation.id, operation.nowMs);
      case 'proposePlan':
        return this.#approvals.propose(operation.plan);
      case 'decidePlan':
        return this.#approvals.decidePlan(operation.decision);
      case 'revokeToken':
        return this.#approvals.revokeToken(operation.tokenId, operation.expiresAtMs);
      case 'pinTool': {
        const { name, version, fileSha256, definitionSha256, acceptedAtMs, acceptedBy } = operation.pin;
        return void this.#statements.pinTool.run(name, version, fileSha256, definitionSha256, acceptedAtMs, acceptedBy);
      }
      case 'unpinTool':
        return this.#statements.unpinTool.run(operation.toolName, operation.version) > 0;
      case 'setSecret': {
        const { name, ciphertext, updatedAtMs } = operation.secret;
        return void this.#statements.setSecret.run(name, ciphertext, updatedAtMs);
      }
      case 'removeSecret':
        return this.#statements.removeSecret.run(operation.secretName) === 1;
      case 'recordContent':
        return this.#content.record(operation.grant);
      case 'forgetContent':
        return this.#content.forget(operation.hash);
      case 'publishArtifact':
        return this.#content.publish(operation.artifact);
    }
  }

  #admit(admission: Admission, nowMs: number): Admitted {
    const { sessionId, leaseId, intent, dedupe, consent } = admission;
    const obstacle = this.#ledger.obstacle(sessionId, leaseId, nowMs);
    if (obstacle !== undefined) return { admitted: false, because: obstacle };
    if (consent !== undefined && !this.#approvals.isUsable(consent, nowMs))
      return { admitted: false, because: 'consent' };
    if (dedupe !== undefined && !this.#claimKey(admission, dedupe, nowMs))
      return { admitted: false, because: 'dedupe' };
    const reserved = this.#counters.reserve(admission.reservations, nowMs);
    if (!reserved.ok) {
      if (dedupe !== undefined) this.#statements.freeKey.run(intent.callId);
      return { admitted: false, because: 'rate', rule: reserved.rule, retryAfterMs: reserved.retryAfterMs };
    }
    if (consent !== undefined) this.#approvals.use(consent);
    this.#ledger.countCall(sessionId, leaseId);
    const intentIndex = this.#log.append(intent);
    this.#statements.openIntent.run(intent.callId, intentIndex, sessionId, intent.timeMs);
    return { admitted: true, intentIndex };
  }

  /** What the ledger knows is written before sessions change, and read again afterwards. */
  #changeSessions<Value>(change: (sessions: SessionWriter) => Value): Value {
    this.#ledger.flush();
    const value = change(this.#sessions);
    this.#ledger.forget();
    return value;
  }

  #claimKey({ sessionId, intent }: Admission, dedupe: NonNullable<Admission['dedupe']>, nowMs: number): boolean {
    const { key, argumentsSha256, expiresAtMs } = dedupe;
    return this.#statements.claimKey.run(sessionId, key, argumentsSha256, intent.callId, expiresAtMs, nowMs) === 1;
  }

  #settle({ outcome, charge, misconduct, dedupe, planId }: Settlement): Recorded {
    if (this.#statements.closeIntent.run(outcome.callId) === 0) {
      throw new Error(`no open intent for call ${outcome.callId}`);
    }
    if (dedupe?.kept !== undefined) {
      const { hash, sizeBytes } = dedupe.kept;
      this.#statements.keepReference.run(hash, sizeBytes, dedupe.sessionId, dedupe.key);
    } else if (dedupe?.output !== undefined) {
      this.#statements.keepOutput.run(JSON.stringify(dedupe.output), dedupe.sessionId, dedupe.key);
    } else if (outcome.result === 'unknown') {
      this.#statements.keepUnknown.run(outcome.callId);
    } else if (dedupe !== undefined) {
      this.#statements.freeKey.run(outcome.callId);
    }
    if (planId !== undefined) this.#approvals.noteStepEnded(planId, outcome.timeMs);
    if (charge !== undefined) this.#ledger.charge(charge);
    return this.#record(outcome, misconduct);
  }

  /** A session that this record puts into quarantine gets a record of that too, in the same commit. */
  #record(entry: LogEntry, misconduct: Misconduct | undefined): Recorded {
    const index = this.#log.append(entry);
    if (misconduct === undefined) return { index };
    const isTooMuch = this.#changeSessions((sessions) => sessions.blame(misconduct, entry.timeMs));
    if (!isTooMuch) return { index };
    const { sessionId } = misconduct;
    const payload = JSON.stringify({ event: 'session_quarantined', because_of: index });
    this.#log.append({ kind: 'event', result: 'denied', timeMs: entry.timeMs, sessionId, payload });
    return { index, quarantined: sessionId };
  }

  /** Nothing new is admitted, but a call that already ran may still say how it ended, in the reserved space. */
  #writeWhileSealed(operation: Operation): Written {
    const refused: Written = { ok: false, error: this.#sealedBecause ?? 'sealed', sealed: true };
    if (operation.name !== 'settle') return refused;
    try {
      return this.#commit([operation])[0] ?? refused;
    } catch {
      return refused;
    }
  }

  #seal(error: unknown): void {
    if (this.#sealedBecause !== undefined) return;
    this.#sealedBecause = isDiskFull(error) ? 'the disk is full' : messageOf(error);
    rmSync(this.#options.reserveFile, { force: true });
  }

  #setReserveAside(): void {
    const { reserveFile, reserveBytes } = this.#options;
    if (reserveBytes === 0 || existsSync(reserveFile)) return;
    const descriptor = openSync(reserveFile, 'w', 0o600);
    try {
      // Zeros would take no space on some file systems; a pattern does.
      writeSync(descriptor, Buffer.alloc(reserveBytes, 'sallyport'));
      fsyncSync(descriptor);
    } catch {
      rmSync(reserveFile, { force: true });
    } finally {
      closeSync(descriptor);
    }
  }
}

function isStorageFailure(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && !isConstraintViolation(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
