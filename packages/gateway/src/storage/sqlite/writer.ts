import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import type { AnomalyResponse, NewAnomaly } from '../../call/anomaly.ts';
import type { Decision, NewApproval, NewPlan, PlanDecision, StandingApproval } from '../../call/approval.ts';
import type { EntryState } from '../../call/journal.ts';
import type { OrganisationChange } from '../../call/organisation.ts';
import { ownJson } from '../../call/redacted.ts';
import type {
  Admission,
  Admitted,
  AnomalyProgress,
  Artifact,
  ContentGrant,
  ErasedRows,
  LogEntry,
  Misconduct,
  ModeChange,
  NewErasure,
  NewJournalEntries,
  NewLease,
  NewSession,
  RemovedRecords,
  Retention,
  SealedSecret,
  Settlement,
  ToolPin,
  WorkspaceRoot,
} from '../stores.ts';
import { AnomalyWriter, recordOf } from './anomalies/anomaly-writer.ts';
import { ApprovalWriter } from './approvals/approval-writer.ts';
import { ContentWriter } from './content/content-writer.ts';
import { Database, fullDisk, isConstraintViolation, isDamaged, isDiskFull } from './database.ts';
import { ErasureWriter } from './erasure/erasure-writer.ts';
import { overwriteUnused } from './erasure/overwrite-unused.ts';
import { JournalWriter } from './journal/journal-writer.ts';
import type { LogAppender } from './log/log-appender.ts';
import type { OpenIntents } from './log/open-intents.ts';
import { ModeWriter } from './governance/mode-writer.ts';
import { openState } from './state/open-state.ts';
import { OrganisationWriter } from './governance/organisation-writer.ts';
import { prepareWriterStatements } from './writer-statements.ts';
import { SessionWriter } from './sessions/session-writer.ts';
import { touchedBy } from './state/state-versions.ts';
import type { StateVersions, Touched } from './state/state-versions.ts';
import type { StateGuard } from './state/state-guard.ts';
import { Tallies } from './counts/tallies.ts';
import type { WriterStatements } from './writer-statements.ts';

export interface WriterOptions {
  readonly databaseFile: string;
  readonly signingKey: string;
  readonly origin: string;
  readonly checkpointFile: string;
  /** Space that is given up when the disk is full, so that running calls can still record their outcome. */
  readonly reserveFile: string;
  readonly reserveBytes: number;
  /** Where old payloads are. Absent: there is no archive. */
  readonly archiveFolder?: string;
  /** Base64 of 32 bytes: what the state beside the log is authenticated with. */
  readonly stateKey: string;
  /** The key is new, so the state is taken over as it is found. */
  readonly adoptState: boolean;
  /** After a seal. Absent: at the start. */
  readonly isReopened?: true;
}

export type Operation =
  | { readonly name: 'admit'; readonly admission: Admission; readonly nowMs: number }
  | { readonly name: 'settle'; readonly settlement: Settlement }
  | { readonly name: 'append'; readonly entry: LogEntry; readonly misconduct: Misconduct | undefined }
  /** Brings counts and spending in the tables up to date, for somebody who reads them. */
  | { readonly name: 'catchUp' }
  | { readonly name: 'createSession'; readonly session: NewSession }
  | { readonly name: 'endSession'; readonly id: string }
  | { readonly name: 'grantLease'; readonly sessionId: string; readonly lease: NewLease; readonly nowMs: number }
  | { readonly name: 'revokeLease'; readonly sessionId: string; readonly nowMs: number }
  | { readonly name: 'changeMode'; readonly change: ModeChange }
  | { readonly name: 'openAnomaly'; readonly anomaly: NewAnomaly; readonly misconduct: Misconduct | undefined }
  | { readonly name: 'noteResponse'; readonly id: string; readonly response: AnomalyResponse }
  | { readonly name: 'continueAnomalies'; readonly progress: readonly AnomalyProgress[] }
  | { readonly name: 'noteAnomalyTold'; readonly id: string; readonly nowMs: number }
  | { readonly name: 'acknowledgeAnomaly'; readonly id: string; readonly by: string; readonly nowMs: number }
  | { readonly name: 'changeOrganisation'; readonly change: OrganisationChange }
  | { readonly name: 'noteRulesSequence'; readonly sequence: number }
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
  | { readonly name: 'putWorkspaceRoot'; readonly root: WorkspaceRoot }
  | { readonly name: 'removeWorkspaceRoot'; readonly path: string }
  | { readonly name: 'recordContent'; readonly grant: ContentGrant }
  | { readonly name: 'forgetContent'; readonly hash: string }
  | { readonly name: 'publishArtifact'; readonly artifact: Artifact }
  | { readonly name: 'writeJournal'; readonly entries: NewJournalEntries }
  | { readonly name: 'completeJournal'; readonly callId: string; readonly path: string; readonly after: EntryState }
  | { readonly name: 'dropJournal'; readonly beforeMs: number }
  | { readonly name: 'requestErasure'; readonly erasure: NewErasure }
  | { readonly name: 'cancelErasure'; readonly id: string; readonly by: string; readonly atMs: number }
  | { readonly name: 'startErasure'; readonly id: string; readonly atMs: number }
  | { readonly name: 'erasePayloads'; readonly id: string; readonly removed: RemovedRecords & { nextIndex: number } }
  | { readonly name: 'eraseRows'; readonly rows: ErasedRows }
  | { readonly name: 'endErasure'; readonly id: string; readonly atMs: number }
  | { readonly name: 'noteRetention'; readonly retention: Retention }
  | { readonly name: 'archivePayloads'; readonly removed: RemovedRecords & { file: string; by: string } }
  | { readonly name: 'forgetExpired'; readonly nowMs: number };

/** `quarantined`: the session that this record put into quarantine. */
export interface Recorded {
  readonly index: number;
  readonly quarantined?: string;
}

export type Written =
  /** `touched`: what of the snapshot it changed, and to which version that leads. Absent: nothing. */
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly touched?: { readonly version: number; readonly what: readonly Touched[] };
    }
  | { readonly ok: false; readonly error: string; readonly sealed: boolean };

export interface Sealed {
  readonly reason: string;
  /** Log or state are not what the gate wrote: it opens again only when all of both were found to be whole. */
  readonly isChanged: boolean;
}

/** Takes some seconds; no call is recorded meanwhile. */
const mostRewrittenBytes = 64 * 1024 * 1024;

/** Owns the writing connection. Used by one thread only; each group of operations is one commit. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #database: Database;
  readonly #log: LogAppender;
  readonly #guard: StateGuard;
  readonly #intents: OpenIntents;
  readonly #tallies: Tallies;
  readonly #dataVersion: number;
  readonly #anomalies: AnomalyWriter;
  readonly #approvals: ApprovalWriter;
  readonly #content: ContentWriter;
  readonly #erasures: ErasureWriter;
  readonly #journal: JournalWriter;
  readonly #mode: ModeWriter;
  readonly #organisation: OrganisationWriter;
  readonly #sessions: SessionWriter;
  readonly #statements: WriterStatements;
  readonly #versions: StateVersions;
  #sealed: Sealed | undefined;
  constructor(options: WriterOptions, versions: StateVersions) {
    this.#options = options;
    this.#versions = versions;
    this.#database = Database.openForWriting(options.databaseFile);
    try {
      const { log, guard, intents, tallies } = openState(this.#database, options);
      this.#log = log;
      this.#guard = guard;
      this.#intents = intents;
      this.#tallies = new Tallies(this.#database);
      this.#tallies.adopt(tallies);
      this.#anomalies = new AnomalyWriter(this.#database);
      this.#approvals = new ApprovalWriter(this.#database, this.#log);
      this.#content = new ContentWriter(this.#database);
      this.#erasures = new ErasureWriter(this.#database, this.#log);
      this.#journal = new JournalWriter(this.#database);
      this.#mode = new ModeWriter(this.#database, this.#log);
      this.#organisation = new OrganisationWriter(this.#database);
      this.#sessions = new SessionWriter(this.#database);
      this.#statements = prepareWriterStatements(this.#database);
      this.#dataVersion = this.#readDataVersion();
      this.#setReserveAside();
      // What a former run committed but did not sign is signed before anything new comes. After a seal something is
      // written in any case: that nothing had to be written so far does not show that anything can be.
      if (this.#log.hasUnsigned || this.#tallies.isBehind || options.isReopened) this.#signAndCatchUp();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get sealed(): Sealed | undefined {
    return this.#sealed;
  }

  get hasUnsigned(): boolean {
    return this.#log.hasUnsigned && this.#sealed === undefined;
  }

  /** Runs the operations in one commit and answers each. Never throws. */
  writeGroup(operations: readonly Operation[]): Written[] {
    if (this.#sealed !== undefined) return operations.map((operation) => this.#writeWhileSealed(operation));
    try {
      return this.#commit(operations);
    } catch (error) {
      // One bad operation must not fail its neighbours: run them by halves and find out whose fault it was.
      if (operations.length > 1) {
        const half = Math.ceil(operations.length / 2);
        return [...this.writeGroup(operations.slice(0, half)), ...this.writeGroup(operations.slice(half))];
      }
      if (!isStorageFailure(error)) return [{ ok: false, error: messageOf(error), sealed: false }];
      this.#sealBecauseOf(error);
      return operations.map((operation) => this.#writeWhileSealed(operation));
    }
  }

  /** Whether counts and spending in the tables are older than the log. */
  get isBehind(): boolean {
    return this.#tallies.isBehind;
  }

  /** Seals the gate if something else wrote to the database, which a commit would find as well. */
  lookForChanges(): void {
    if (this.#sealed !== undefined) return;
    try {
      if (this.#readDataVersion() !== this.#dataVersion) throw new ChangedByOthers();
    } catch (error) {
      this.#sealBecauseOf(error);
    }
  }

  /** Signs what is committed, and brings the tables up to date in the same commit. */
  sign(): void {
    try {
      this.#signAndCatchUp();
    } catch (error) {
      this.#sealBecauseOf(error);
    }
  }

  /** Nothing new is written any more. The space set aside is given up for the outcomes of calls that run. */
  seal(sealed: Sealed): void {
    // That something was changed weighs more than what sealed the gate before.
    if (this.#sealed !== undefined && (this.#sealed.isChanged || !sealed.isChanged)) return;
    this.#sealed = sealed;
    rmSync(this.#options.reserveFile, { force: true });
  }

  close(): void {
    if (this.#sealed === undefined) {
      try {
        this.#transact(() => {
          this.#forgetExpired(Date.now());
          this.#tallies.flush();
        });
      } catch {
        // What is old goes at the next end.
      }
      this.sign();
      if (this.#statements.isRewriteDue.get() !== undefined) this.#overwriteUnused();
    }
    this.#database.close();
  }

  /**
   * Leaves nothing of what was deleted in the files. In a large database that is done when it is closed, because no call could
   * be recorded meanwhile. False: not done yet.
   */
  compact({ isRoutine }: { readonly isRoutine: boolean }): boolean {
    if (this.#sealed !== undefined) return false;
    try {
      // Written down, because a kill may come before it is done.
      this.#transact(() => this.#statements.noteRewriteDue.run());
      const most = isRoutine ? mostRewrittenBytes / 8 : mostRewrittenBytes;
      if (statSync(this.#options.databaseFile).size <= most) return this.#rewrite();
      this.#database.emptyJournal();
    } catch (error) {
      this.#sealBecauseOf(error);
    }
    return false;
  }

  /** False: there was no room for a second copy, or somebody still reads the former one. */
  #rewrite(): boolean {
    try {
      this.#database.rewrite();
      if (!this.#database.emptyJournal()) return false;
      this.#transact(() => this.#statements.noteRewritten.run());
      return true;
    } catch {
      return false;
    }
  }

  /** At the end: nobody else may write. What cannot be done now is done at the next end. */
  #overwriteUnused(): void {
    try {
      if (!this.#database.emptyJournal()) return;
      overwriteUnused(this.#options.databaseFile);
      // Pages in memory are as they were.
      this.#database.forgetPages();
      this.#transact(() => this.#statements.noteRewritten.run());
    } catch {
      // It stays due.
    }
  }

  #forgetExpired(nowMs: number): void {
    this.#statements.dropExpiredKeys.run(nowMs);
    this.#approvals.dropOldTokens(nowMs);
  }

  #signAndCatchUp(): void {
    const publish = this.#transact(() => {
      this.#tallies.flush();
      return this.#log.sign();
    });
    publish?.();
  }

  #commit(operations: readonly Operation[]): Written[] {
    return this.#transact(() => operations.map((operation) => this.#answer(operation)));
  }

  #answer(operation: Operation): Written {
    const value = this.#apply(operation);
    const what = touchedBy(operation, value);
    if (what.length === 0) return { ok: true, value };
    return { ok: true, value, touched: { version: this.#versions.note(what), what } };
  }

  #transact<Value>(change: () => Value): Value {
    try {
      this.#statements.begin.run();
      if (this.#readDataVersion() !== this.#dataVersion) throw new ChangedByOthers();
      this.#tallies.recall();
      const value = change();
      const tallies = this.#tallies.encode();
      const position = this.#log.size;
      this.#guard.save({ position, openFrom: this.#intents.firstPosition(position), tallies });
      this.#statements.commit.run();
      this.#log.committed();
      this.#guard.committed();
      this.#intents.committed();
      this.#tallies.committed();
      return value;
    } catch (error) {
      this.#log.rolledBack();
      this.#guard.rolledBack();
      this.#intents.rolledBack();
      this.#tallies.rolledBack();
      try {
        this.#statements.rollback.run();
      } catch {
        // SQLite has rolled back by itself already, as it does when the disk is full.
      }
      throw error;
    }
  }

  /** Changes when another connection has written: nobody else does, and what they wrote nobody has checked. */
  #readDataVersion(): number {
    return Number(this.#statements.dataVersion.get()?.['data_version']);
  }

  #apply(operation: Operation): unknown {
    switch (operation.name) {
      case 'admit':
        return this.#admit(operation.admission, operation.nowMs);
      case 'settle':
        return this.#settle(operation.settlement);
      case 'append':
        return this.#record(operation.entry, operation.misconduct);
      case 'catchUp':
        return this.#tallies.flush();
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
      case 'openAnomaly':
        return this.#openAnomaly(operation.anomaly, operation.misconduct);
      case 'noteResponse':
        return this.#anomalies.noteResponse(operation.id, operation.response);
      case 'continueAnomalies':
        return this.#anomalies.continue(operation.progress);
      case 'noteAnomalyTold':
        return this.#anomalies.noteTold(operation.id, operation.nowMs);
      case 'acknowledgeAnomaly':
        return this.#anomalies.acknowledge(operation.id, operation.by, operation.nowMs);
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
      case 'putWorkspaceRoot': {
        const { path, addedAtMs, addedBy, rules } = operation.root;
        const accepted = [rules?.bytes ?? null, rules?.acceptedAtMs ?? null, rules?.acceptedBy ?? null];
        return void this.#statements.putWorkspaceRoot.run(path, addedAtMs, addedBy, ...accepted);
      }
      case 'removeWorkspaceRoot':
        return this.#statements.removeWorkspaceRoot.run(operation.path) > 0;
      case 'setSecret': {
        const { name, ciphertext, updatedAtMs } = operation.secret;
        return void this.#statements.setSecret.run(name, ciphertext, updatedAtMs);
      }
      case 'noteRulesSequence':
        return void this.#statements.noteRulesSequence.run(String(operation.sequence));
      case 'removeSecret':
        return this.#statements.removeSecret.run(operation.secretName) === 1;
      case 'recordContent':
        return this.#content.record(operation.grant);
      case 'forgetContent':
        return this.#content.forget(operation.hash);
      case 'publishArtifact':
        return this.#content.publish(operation.artifact);
      case 'writeJournal':
        return this.#journal.write(operation.entries);
      case 'completeJournal':
        return this.#journal.complete(operation.callId, operation.path, operation.after);
      case 'dropJournal':
        return this.#journal.drop(operation.beforeMs);
      case 'requestErasure':
        return this.#erasures.request(operation.erasure);
      case 'cancelErasure':
        return this.#erasures.cancel(operation.id, operation.by, operation.atMs);
      case 'startErasure':
        return this.#erasures.start(operation.id, operation.atMs);
      case 'erasePayloads':
        return this.#erasures.erasePayloads(operation.id, operation.removed);
      case 'eraseRows':
        return this.#erasures.eraseRows(operation.rows);
      case 'endErasure':
        return this.#erasures.end(operation.id, operation.atMs);
      case 'noteRetention':
        return this.#erasures.noteRetention(operation.retention);
      case 'archivePayloads':
        return this.#erasures.archivePayloads(operation.removed);
      case 'forgetExpired':
        return this.#forgetExpired(operation.nowMs);
    }
  }

  #admit(admission: Admission, nowMs: number): Admitted {
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
      if (dedupe !== undefined) this.#statements.freeKey.run(intent.callId);
      return { admitted: false, because: 'rate', rule: reserved.rule, retryAfterMs: reserved.retryAfterMs };
    }
    if (consent !== undefined) this.#approvals.use(consent);
    this.#tallies.ledger.countCall(sessionId, leaseId);
    this.#tallies.uses.note(sessionId, admission.tool, intent.timeMs);
    const intentIndex = this.#log.append(intent);
    this.#intents.open(intent.callId, intentIndex);
    return { admitted: true, intentIndex };
  }

  /** What the ledger knows is written before sessions change, and read again afterwards. */
  #changeSessions<Value>(change: (sessions: SessionWriter) => Value): Value {
    const { ledger } = this.#tallies;
    ledger.flush();
    const value = change(this.#sessions);
    ledger.forget();
    return value;
  }

  #claimKey({ sessionId, intent }: Admission, dedupe: NonNullable<Admission['dedupe']>, nowMs: number): boolean {
    const { key, argumentsSha256, expiresAtMs, isRepeatable = false } = dedupe;
    const claim = [sessionId, key, argumentsSha256, intent.callId, expiresAtMs, nowMs, isRepeatable ? 1 : 0] as const;
    return this.#statements.claimKey.run(...claim) === 1;
  }

  #settle({ outcome, charge, misconduct, dedupe, planId }: Settlement): Recorded {
    this.#intents.close(outcome.callId);
    if (dedupe?.kept !== undefined) {
      const { hash, sizeBytes } = dedupe.kept;
      this.#statements.keepReference.run(hash, sizeBytes, dedupe.sessionId, dedupe.key);
    } else if (dedupe?.sealedOutput !== undefined) {
      this.#statements.keepOutput.run(dedupe.sealedOutput, dedupe.sessionId, dedupe.key);
    } else if (outcome.result === 'unknown' || dedupe?.isUnknown === true) {
      this.#statements.keepUnknown.run(outcome.callId);
    } else if (dedupe !== undefined) {
      this.#statements.freeKey.run(outcome.callId);
    }
    if (planId !== undefined) this.#approvals.noteStepEnded(planId, outcome.timeMs);
    if (charge !== undefined) this.#tallies.ledger.charge(charge);
    return this.#record(outcome, misconduct);
  }

  #openAnomaly(anomaly: NewAnomaly, misconduct: Misconduct | undefined): { readonly quarantined: boolean } {
    const { quarantined } = this.#record(recordOf(anomaly), misconduct);
    this.#anomalies.open(anomaly, quarantined === undefined ? [] : ['quarantine']);
    return { quarantined: quarantined !== undefined };
  }

  /** A session that this record puts into quarantine gets a record of that too, in the same commit. */
  #record(entry: LogEntry, misconduct: Misconduct | undefined): Recorded {
    const index = this.#log.append(entry);
    if (misconduct === undefined) return { index };
    const isTooMuch = this.#changeSessions((sessions) => sessions.blame(misconduct, entry.timeMs));
    if (!isTooMuch) return { index };
    const { sessionId } = misconduct;
    const payload = ownJson({ event: 'session_quarantined', because_of: index });
    this.#log.append({ kind: 'event', result: 'denied', timeMs: entry.timeMs, sessionId, payload });
    return { index, quarantined: sessionId };
  }

  /** Nothing new is admitted, but a call that already ran may still say how it ended, in the reserved space. */
  #writeWhileSealed(operation: Operation): Written {
    const refused: Written = { ok: false, error: this.#sealed?.reason ?? 'sealed', sealed: true };
    if (operation.name !== 'settle') return refused;
    try {
      return this.#commit([operation])[0] ?? refused;
    } catch {
      return refused;
    }
  }

  #sealBecauseOf(error: unknown): void {
    const isChanged = error instanceof ChangedByOthers || isDamaged(error);
    const damaged = isDamaged(error) ? `${this.#options.databaseFile} is damaged: ` : '';
    this.seal({ reason: isDiskFull(error) ? fullDisk : `${damaged}${messageOf(error)}`, isChanged });
  }

  /** After a seal there must be room for it: otherwise the space that the seal gave up would be the room to open. */
  #setReserveAside(): void {
    const { reserveFile, reserveBytes, isReopened } = this.#options;
    if (reserveBytes === 0 || existsSync(reserveFile)) return;
    const descriptor = openSync(reserveFile, 'w', 0o600);
    try {
      // Zeros would take no space on some file systems; a pattern does.
      writeSync(descriptor, Buffer.alloc(reserveBytes, 'sallyport'));
      fsyncSync(descriptor);
    } catch (error) {
      rmSync(reserveFile, { force: true });
      if (isReopened) throw error;
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Somebody else wrote to the database while the gate was running. */
class ChangedByOthers extends Error {
  constructor() {
    super('the database was changed by something other than Sallyport');
  }
}

function isStorageFailure(error: unknown): boolean {
  if (error instanceof ChangedByOthers) return true;
  return error instanceof Error && 'errcode' in error && !isConstraintViolation(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
