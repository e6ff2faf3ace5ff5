import type { NewAnomaly } from '../../call/anomaly.ts';
import type { Misconduct } from '../stores.ts';
import { AnomalyWriter, recordOf } from './anomalies/anomaly-writer.ts';
import { ApprovalWriter } from './approvals/approval-writer.ts';
import { CallWriter } from './call-writer.ts';
import { ContentWriter } from './content/content-writer.ts';
import type { Tallies } from './counts/tallies.ts';
import type { Database } from './database.ts';
import { ErasureWriter } from './erasure/erasure-writer.ts';
import { ModeWriter } from './governance/mode-writer.ts';
import { OrganisationWriter } from './governance/organisation-writer.ts';
import { JournalWriter } from './journal/journal-writer.ts';
import type { LogAppender } from './log/log-appender.ts';
import type { OpenIntents } from './log/open-intents.ts';
import type { Operation } from './operation.ts';
import { SessionWriter } from './sessions/session-writer.ts';
import type { StateVersions } from './state/state-versions.ts';

interface WrittenState {
  readonly database: Database;
  readonly log: LogAppender;
  readonly intents: OpenIntents;
  readonly tallies: Tallies;
  readonly versions: StateVersions;
}

/** Carries out an operation, inside the writer's transaction. Each noun has its own writer. */
export class OperationWriter {
  readonly #tallies: Tallies;
  readonly #anomalies: AnomalyWriter;
  readonly #approvals: ApprovalWriter;
  readonly #calls: CallWriter;
  readonly #content: ContentWriter;
  readonly #erasures: ErasureWriter;
  readonly #journal: JournalWriter;
  readonly #mode: ModeWriter;
  readonly #organisation: OrganisationWriter;
  readonly #sessions: SessionWriter;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(state: WrittenState) {
    const { database, log, tallies } = state;
    this.#tallies = tallies;
    this.#anomalies = new AnomalyWriter(database);
    this.#approvals = new ApprovalWriter(database, log);
    this.#content = new ContentWriter(database);
    this.#erasures = new ErasureWriter(database, log);
    this.#journal = new JournalWriter(database);
    this.#mode = new ModeWriter(database, log);
    this.#organisation = new OrganisationWriter(database);
    this.#sessions = new SessionWriter(database, tallies.ledger);
    this.#calls = new CallWriter({ ...state, approvals: this.#approvals, sessions: this.#sessions });
    this.#sql = prepare(database);
  }

  apply(operation: Operation): unknown {
    switch (operation.name) {
      case 'admit':
        return this.#calls.admit(operation.admission, operation.nowMs);
      case 'settle':
        return this.#calls.settle(operation.settlement);
      case 'append':
        return this.#calls.record(operation.entry, operation.misconduct);
      case 'catchUp':
        return this.#tallies.flush();
      case 'createSession':
        return this.#sessions.create(operation.session);
      case 'endSession':
        return this.#sessions.end(operation.id);
      case 'grantLease':
        return this.#sessions.grantLease(operation.sessionId, operation.lease, operation.nowMs);
      case 'revokeLease':
        return this.#sessions.revokeLease(operation.sessionId, operation.nowMs);
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
        return void this.#sql.pinTool.run(name, version, fileSha256, definitionSha256, acceptedAtMs, acceptedBy);
      }
      case 'unpinTool':
        return this.#sql.unpinTool.run(operation.toolName, operation.version) > 0;
      case 'putWorkspaceRoot': {
        const { path, addedAtMs, addedBy, rules } = operation.root;
        const accepted = [rules?.bytes ?? null, rules?.acceptedAtMs ?? null, rules?.acceptedBy ?? null];
        return void this.#sql.putWorkspaceRoot.run(path, addedAtMs, addedBy, ...accepted);
      }
      case 'removeWorkspaceRoot':
        return this.#sql.removeWorkspaceRoot.run(operation.path) > 0;
      case 'setSecret': {
        const { name, ciphertext, updatedAtMs } = operation.secret;
        return void this.#sql.setSecret.run(name, ciphertext, updatedAtMs);
      }
      case 'noteRulesSequence':
        return void this.#sql.noteRulesSequence.run(String(operation.sequence));
      case 'removeSecret':
        return this.#sql.removeSecret.run(operation.secretName) === 1;
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
        return this.forgetExpired(operation.nowMs);
    }
  }

  forgetExpired(nowMs: number): void {
    this.#calls.dropExpiredKeys(nowMs);
    this.#approvals.dropOldTokens(nowMs);
  }

  #openAnomaly(anomaly: NewAnomaly, misconduct: Misconduct | undefined): { readonly quarantined: boolean } {
    const { quarantined } = this.#calls.record(recordOf(anomaly), misconduct);
    this.#anomalies.open(anomaly, quarantined === undefined ? [] : ['quarantine']);
    return { quarantined: quarantined !== undefined };
  }
}

function prepare(database: Database) {
  return {
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
