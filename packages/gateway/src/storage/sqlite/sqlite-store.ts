import type { Worker } from 'node:worker_threads';
import type { StoredCheckpoint, StoredRecord } from '@sallyport/log';
import type { Reservation } from '../../call/call.ts';
import { ConfigError } from '../../call/fault.ts';
import type { Anomaly } from '../../call/anomaly.ts';
import { takeWriter } from './start-thread.ts';
import type { Organisation, OrganisationChange } from '../../call/organisation.ts';
import type {
  ApprovalTask,
  Decision,
  NewApproval,
  NewPlan,
  Plan,
  PlanDecision,
  StandingApproval,
} from '../../call/approval.ts';
import type { Lease, Mode, Session } from '../../call/session.ts';
import type * as stores from '../stores.ts';
import { AnomalyReader } from './anomalies/anomaly-reader.ts';
import { ContentReader } from './content/content-reader.ts';
import { ErasureReader } from './erasure/erasure-reader.ts';
import { JournalReader } from './journal/journal-reader.ts';
import type { Row, Statement } from './database.ts';
import { clockToleranceMs } from './counts/counters.ts';
import { ApprovalReader } from './approvals/approval-reader.ts';
import { Database } from './database.ts';
import { archiveFiller, readRecord } from './log/log-reader.ts';
import { ModeReader } from './governance/mode-reader.ts';
import { callRecords } from './log/record-calls.ts';
import { findOpenIntents } from './log/open-intents.ts';
import { OrganisationReader } from './governance/organisation-reader.ts';
import { RecordQueries } from './log/record-queries.ts';
import { SessionReader } from './sessions/session-reader.ts';
import { mostEnded, Projection } from '../projection.ts';
import type { Touched } from './state/state-versions.ts';
import { WriterLink } from './writer-link.ts';
import type { FromWriter } from './writer-thread.ts';
import type { Recorded } from './operation.ts';
import type { WriterOptions } from './writer.ts';

/** Starts the writer thread, brings the schema up to date and checks the end of the log. Rejects with ConfigError. */
export async function openSqliteStore(options: WriterOptions): Promise<stores.Store> {
  const worker = takeWriter();
  const first = await new Promise<FromWriter>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
    worker.postMessage(options);
  });
  if (first.kind !== 'ready') {
    await worker.terminate();
    const { message, remedy } =
      first.kind === 'failed' ? first : { message: 'the writer did not start', remedy: undefined };
    throw new ConfigError(message, remedy);
  }
  return new SqliteStore(worker, options);
}

class SqliteStore implements stores.Store {
  readonly #link: WriterLink;
  readonly #reader: Database;
  readonly #anomalies: AnomalyReader;
  readonly #approvals: ApprovalReader;
  readonly #content: ContentReader;
  readonly #erasures: ErasureReader;
  readonly #journal: JournalReader;
  readonly #modes: ModeReader;
  readonly #organisation: OrganisationReader;
  readonly #queries: RecordQueries;
  readonly #sessions: SessionReader;
  readonly #snapshot: Projection;
  readonly #select: Record<'dedupe' | 'counter' | 'records' | 'toolUses' | 'secrets' | 'pins' | 'roots', Statement>;
  readonly #recordsOfCall: (callId: string) => Row[];
  readonly #fill: (record: StoredRecord) => StoredRecord;

  constructor(worker: Worker, options: WriterOptions) {
    const reader = Database.openForReading(options.databaseFile);
    this.#reader = reader;
    this.#fill = archiveFiller(options.archiveFolder);
    this.#anomalies = new AnomalyReader(reader);
    this.#approvals = new ApprovalReader(reader);
    this.#content = new ContentReader(reader);
    this.#erasures = new ErasureReader(reader);
    this.#journal = new JournalReader(reader);
    this.#sessions = new SessionReader(reader);
    this.#select = {
      dedupe: reader.prepare('SELECT * FROM dedupe WHERE session_id = ? AND key = ? AND expires_at_ms > ?'),
      counter: reader.prepare('SELECT window_start_ms, used FROM counters WHERE key = ? AND window_ms = ?'),
      secrets: reader.prepare('SELECT * FROM secrets ORDER BY name'),
      pins: reader.prepare('SELECT * FROM tool_pins ORDER BY name, version'),
      roots: reader.prepare('SELECT * FROM workspace_roots ORDER BY path'),
      toolUses: reader.prepare('SELECT tool, last_ms FROM tool_uses WHERE session_id = ?'),
      records: reader.prepare('SELECT * FROM records WHERE position >= ? ORDER BY position LIMIT ?'),
    };
    this.#recordsOfCall = callRecords(reader);
    this.#modes = new ModeReader(reader);
    this.#organisation = new OrganisationReader(reader);
    this.#queries = new RecordQueries(reader);
    // Nobody else writes, so this daemon always has the current state.
    this.#snapshot = new Projection(this.#organisation.read(), () => Date.now());
    this.#load(0);
    this.#link = new WriterLink(worker, options, {
      refresh: (touched, version) => this.#refresh(touched, version),
      reload: () => this.#load(this.#snapshot.version()),
    });
  }

  readonly unwritten = (): number => this.#link.unwritten;

  readonly admit = (admission: stores.Admission): Promise<stores.Admitted> =>
    this.#link.write<stores.Admitted>({ name: 'admit', admission, nowMs: Date.now() });

  readonly settle = (settlement: stores.Settlement): Promise<{ readonly index: number }> =>
    this.#link.write<Recorded>({ name: 'settle', settlement });

  readonly append = (entry: stores.LogEntry, misconduct?: stores.Misconduct): Promise<{ readonly index: number }> =>
    this.#link.write<Recorded>({ name: 'append', entry, misconduct });

  readonly createSession = async (session: stores.NewSession): Promise<void> => {
    await this.#link.write<void>({ name: 'createSession', session });
  };

  readonly endSession = (id: string): Promise<boolean> => this.#link.write<boolean>({ name: 'endSession', id });

  readonly grantLease = (sessionId: string, lease: stores.NewLease, nowMs: number): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'grantLease', sessionId, lease, nowMs });

  readonly revokeLease = (sessionId: string, nowMs: number): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'revokeLease', sessionId, nowMs });

  readonly changeMode = (change: stores.ModeChange): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'changeMode', change });

  readonly changeOrganisation = (change: OrganisationChange): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'changeOrganisation', change });

  readonly version = (): number => this.#snapshot.version();

  readonly trueAtMs = (): number => this.#snapshot.trueAtMs();

  readonly changedSince: stores.Snapshot['changedSince'] = (version, sessionId) =>
    this.#snapshot.changedSince(version, sessionId);

  readonly onChange: stores.Snapshot['onChange'] = (listener) => this.#snapshot.onChange(listener);

  readonly findSessionByToken = (tokenSha256: string): Session | undefined =>
    this.#snapshot.findSessionByToken(tokenSha256);

  readonly findSession = (id: string): Session | undefined => this.#snapshot.findSession(id);

  readonly liveSessions = (): readonly Session[] => this.#snapshot.liveSessions();

  readonly readMode = (): Mode => this.#snapshot.readMode();

  readonly readOrganisation = (): Organisation => this.#snapshot.readOrganisation();

  readonly listToolPins = (): readonly stores.ToolPin[] => this.#snapshot.listToolPins();

  readonly listWorkspaceRoots = (): readonly stores.WorkspaceRoot[] => this.#snapshot.listWorkspaceRoots();

  readonly listStanding: stores.Snapshot['listStanding'] = (filter) => this.#snapshot.listStanding(filter);

  readonly readSession = async (id: string): Promise<Session | undefined> => {
    await this.#link.catchUp();
    return this.#sessions.findById(id);
  };

  readonly readSessionByToken = async (tokenSha256: string): Promise<Session | undefined> => {
    await this.#link.catchUp();
    return this.#sessions.findByToken(tokenSha256);
  };

  readonly listSessions = async (): Promise<readonly Session[]> => {
    await this.#link.catchUp();
    return this.#sessions.list();
  };

  readonly listLeases = async (sessionId: string): Promise<readonly Lease[]> => {
    await this.#link.catchUp();
    return this.#sessions.listLeases(sessionId);
  };

  readonly listModeChanges = async (limit: number): Promise<readonly stores.ModeChange[]> => this.#modes.list(limit);

  readonly openAnomaly: stores.AnomalyRepository['openAnomaly'] = (anomaly, misconduct) =>
    this.#link.write({ name: 'openAnomaly', anomaly, misconduct });

  readonly noteResponse: stores.AnomalyRepository['noteResponse'] = async (id, response) => {
    await this.#link.write<void>({ name: 'noteResponse', id, response });
  };

  readonly continueAnomalies: stores.AnomalyRepository['continueAnomalies'] = async (progress) => {
    await this.#link.write<void>({ name: 'continueAnomalies', progress });
  };

  readonly noteAnomalyTold: stores.AnomalyRepository['noteAnomalyTold'] = async (id, nowMs) => {
    await this.#link.write<void>({ name: 'noteAnomalyTold', id, nowMs });
  };

  readonly acknowledgeAnomaly: stores.AnomalyRepository['acknowledgeAnomaly'] = (id, by, nowMs) =>
    this.#link.write<Anomaly | undefined>({ name: 'acknowledgeAnomaly', id, by, nowMs });

  readonly findAnomaly: stores.AnomalyRepository['findAnomaly'] = async (id) => this.#anomalies.find(id);

  readonly listAnomalies: stores.AnomalyRepository['listAnomalies'] = async (filter) => this.#anomalies.list(filter);

  readonly findDedupe = async (
    sessionId: string,
    key: string,
    nowMs: number,
  ): Promise<stores.DedupeEntry | undefined> => {
    const row = this.#select.dedupe.get(sessionId, key, nowMs);
    if (row === undefined) return undefined;
    const { sealed, kept_hash: keptHash, kept_bytes: keptBytes } = row;
    return {
      key,
      argumentsSha256: String(row['arguments_sha256']),
      callId: String(row['call_id']),
      state: row['state'] as stores.DedupeEntry['state'],
      ...(sealed === null ? {} : { sealedOutput: sealed as Uint8Array }),
      ...(keptHash === null ? {} : { kept: { hash: String(keptHash), sizeBytes: Number(keptBytes) } }),
      expiresAtMs: Number(row['expires_at_ms']),
    };
  };

  readonly usedOf = async (reservation: Reservation, nowMs: number): Promise<{ used: number; resetsInMs: number }> => {
    await this.#link.catchUp();
    const windowStartMs = nowMs - (nowMs % reservation.windowMs);
    const row = this.#select.counter.get(reservation.key, reservation.windowMs);
    const startMs = Number(row?.['window_start_ms'] ?? 0);
    // For a window in the future, because the clock was ahead, only the writer knows what counts now.
    const current = row !== undefined && startMs >= windowStartMs && startMs <= nowMs + clockToleranceMs;
    return { used: current ? Number(row['used']) : 0, resetsInMs: windowStartMs + reservation.windowMs - nowMs };
  };

  readonly setSecret = async (secret: stores.SealedSecret): Promise<void> => {
    await this.#link.write<void>({ name: 'setSecret', secret });
  };

  readonly removeSecret = (secretName: string): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'removeSecret', secretName });

  readonly listSecrets = async (): Promise<readonly stores.SealedSecret[]> =>
    this.#select.secrets.all().map((row) => ({
      name: String(row['name']),
      ciphertext: row['ciphertext'] as Uint8Array,
      updatedAtMs: Number(row['updated_at_ms']),
    }));

  readonly openApproval = (task: NewApproval): Promise<ApprovalTask> =>
    this.#link.write<ApprovalTask>({ name: 'openApproval', task });

  readonly decideApproval = (decision: Decision): Promise<ApprovalTask | undefined> =>
    this.#link.write<ApprovalTask | undefined>({ name: 'decideApproval', decision });

  readonly ageApprovals: stores.ApprovalRepository['ageApprovals'] = (nowMs) =>
    this.#link.write({ name: 'ageApprovals', nowMs });

  readonly findApproval = async (id: string): Promise<ApprovalTask | undefined> => this.#approvals.find(id);

  readonly findApprovalByBinding: stores.ApprovalRepository['findApprovalByBinding'] = async (sessionId, binding) =>
    this.#approvals.findByBinding(sessionId, binding);

  readonly listApprovals: stores.ApprovalRepository['listApprovals'] = async (filter) => this.#approvals.list(filter);

  readonly listApprovalsAfter: stores.ApprovalRepository['listApprovalsAfter'] = async (filter) =>
    this.#approvals.listAfter(filter);

  readonly countAllPending = async (most: number): Promise<number> => this.#approvals.countAllPending(most);

  readonly countPending: stores.ApprovalRepository['countPending'] = async (sessionId, most) =>
    this.#approvals.countPending(sessionId, most);

  readonly listPendingLike: stores.ApprovalRepository['listPendingLike'] = async (sessionId, effectSha256) =>
    this.#approvals.listPendingLike(sessionId, effectSha256);

  readonly listForAgent: stores.ApprovalRepository['listForAgent'] = async (filter) =>
    this.#approvals.listForAgent(filter);

  readonly listUntold: stores.ApprovalRepository['listUntold'] = async (filter) => this.#approvals.listUntold(filter);

  readonly noteTold = async (taskId: string, nowMs: number): Promise<void> => {
    await this.#link.write<void>({ name: 'noteTold', taskId, nowMs });
  };

  readonly nextApprovalDeadlineMs = async (): Promise<number | undefined> => this.#approvals.nextDeadlineMs();

  readonly proposePlan = async (plan: NewPlan): Promise<void> => {
    await this.#link.write<void>({ name: 'proposePlan', plan });
  };

  readonly decidePlan = (decision: PlanDecision): Promise<Plan | undefined> =>
    this.#link.write<Plan | undefined>({ name: 'decidePlan', decision });

  readonly findPlan = async (id: string): Promise<Plan | undefined> => this.#approvals.findPlan(id);

  readonly isTokenUsed = async (tokenId: string): Promise<boolean> => this.#approvals.isTokenUsed(tokenId);

  readonly listPlans: stores.ApprovalRepository['listPlans'] = async (filter) => this.#approvals.listPlans(filter);

  readonly revokeToken = async (tokenId: string, expiresAtMs: number): Promise<void> => {
    await this.#link.write<void>({ name: 'revokeToken', tokenId, expiresAtMs });
  };

  readonly grantStanding = async (standing: StandingApproval): Promise<void> => {
    await this.#link.write<void>({ name: 'grantStanding', standing });
  };

  readonly revokeStanding = (id: string, nowMs: number): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'revokeStanding', id, nowMs });

  readonly pinTool = async (pin: stores.ToolPin): Promise<void> => {
    await this.#link.write<void>({ name: 'pinTool', pin });
  };

  readonly unpinTool = (toolName: string, version: string): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'unpinTool', toolName, version });

  readonly putWorkspaceRoot = async (root: stores.WorkspaceRoot): Promise<void> => {
    await this.#link.write<void>({ name: 'putWorkspaceRoot', root });
  };

  readonly removeWorkspaceRoot = (path: string): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'removeWorkspaceRoot', path });

  readonly recordContent = async (grant: stores.ContentGrant): Promise<void> => {
    await this.#link.write<void>({ name: 'recordContent', grant });
  };

  readonly forgetContent = (hash: string): Promise<boolean> =>
    this.#link.write<boolean>({ name: 'forgetContent', hash });

  readonly publishArtifact = (artifact: stores.Artifact): Promise<'published' | 'exists'> =>
    this.#link.write<'published' | 'exists'>({ name: 'publishArtifact', artifact });

  readonly mayUseContent: stores.ContentRepository['mayUseContent'] = async (sessionId, hash) =>
    this.#content.mayUse(sessionId, hash);

  readonly listContent: stores.ContentRepository['listContent'] = async () => this.#content.list();

  readonly findArtifact: stores.ContentRepository['findArtifact'] = async (id) => this.#content.findArtifact(id);

  readonly listArtifacts: stores.ContentRepository['listArtifacts'] = async (filter) =>
    this.#content.listArtifacts(filter);

  readonly writeJournal = async (entries: stores.NewJournalEntries): Promise<void> => {
    await this.#link.write<void>({ name: 'writeJournal', entries });
  };

  readonly completeJournal: stores.JournalRepository['completeJournal'] = (callId, path, after) =>
    this.#link.write<boolean>({ name: 'completeJournal', callId, path, after });

  readonly dropJournal = (beforeMs: number): Promise<number> =>
    this.#link.write<number>({ name: 'dropJournal', beforeMs });

  readonly readJournal: stores.JournalRepository['readJournal'] = async (filter, limit) =>
    this.#journal.read(filter, limit);

  readonly listKept = async (): Promise<ReadonlySet<string>> => this.#journal.listKept();

  readonly requestErasure = async (erasure: stores.NewErasure): Promise<void> => {
    await this.#link.write<void>({ name: 'requestErasure', erasure });
  };

  readonly cancelErasure: stores.ErasureRepository['cancelErasure'] = (id, by, atMs) =>
    this.#link.write<boolean>({ name: 'cancelErasure', id, by, atMs });

  readonly listErasures: stores.ErasureRepository['listErasures'] = async (limit) => this.#erasures.list(limit);

  readonly nextErasure: stores.ErasureRepository['nextErasure'] = async (nowMs) => this.#erasures.next(nowMs);

  readonly nextErasureDueMs = async (): Promise<number | undefined> => this.#erasures.nextDueMs();

  readonly startErasure: stores.ErasureRepository['startErasure'] = (id, atMs) =>
    this.#link.write<stores.Erasure | undefined>({ name: 'startErasure', id, atMs });

  readonly erasePayloads: stores.ErasureRepository['erasePayloads'] = async (id, removed) => {
    await this.#link.write<void>({ name: 'erasePayloads', id, removed });
  };

  readonly eraseRows = async (rows: stores.ErasedRows): Promise<void> => {
    await this.#link.write<void>({ name: 'eraseRows', rows });
  };

  readonly listKeptOnlyFor: stores.ErasureRepository['listKeptOnlyFor'] = async (rows) =>
    this.#erasures.keptOnlyFor(rows);

  readonly listContentOnlyFor: stores.ErasureRepository['listContentOnlyFor'] = async (rows) =>
    this.#erasures.contentOnlyFor(rows);

  readonly endErasure = async (id: string, atMs: number): Promise<void> => {
    await this.#link.write<void>({ name: 'endErasure', id, atMs });
  };

  readonly compact = (how: { readonly isRoutine: boolean }): Promise<boolean> => this.#link.compact(how);

  readonly readRetention = async (): Promise<stores.Retention | undefined> => this.#erasures.retention();

  readonly noteRetention = async (retention: stores.Retention): Promise<void> => {
    await this.#link.write<void>({ name: 'noteRetention', retention });
  };

  readonly archivePayloads: stores.ErasureRepository['archivePayloads'] = async (removed) => {
    await this.#link.write<void>({ name: 'archivePayloads', removed });
  };

  readonly forgetExpired = async (nowMs: number): Promise<void> => {
    await this.#link.write<void>({ name: 'forgetExpired', nowMs });
  };

  readonly listOpenIntents = async (): Promise<readonly stores.OpenIntent[]> =>
    findOpenIntents(this.#reader, this.#reader.readNumber('SELECT open_from FROM state'));

  readonly logSize = async (): Promise<number> =>
    this.#reader.readNumber('SELECT coalesce(max(position) + 1, 0) FROM records');

  readonly readRecords = async (fromIndex: number, limit: number): Promise<readonly StoredRecord[]> =>
    this.#select.records.all(fromIndex, limit).map(readRecord).map(this.#fill);

  readonly readStored = async (fromIndex: number, limit: number): Promise<readonly StoredRecord[]> =>
    this.#select.records.all(fromIndex, limit).map(readRecord);

  readonly listRemovals: stores.ErasureRepository['listRemovals'] = async (kind) => this.#erasures.removals(kind);

  readonly readDecided: stores.RecordRepository['readDecided'] = async (fromIndex, toIndex) =>
    this.#queries.readDecided(fromIndex, toIndex);

  readonly lastCheckpoint = async (): Promise<StoredCheckpoint | undefined> => {
    const row = this.#reader.prepare('SELECT size, note FROM checkpoints ORDER BY size DESC LIMIT 1').get();
    return row === undefined ? undefined : { size: Number(row['size']), note: String(row['note']) };
  };

  readonly readRecordsOfCall = async (callId: string): Promise<readonly StoredRecord[]> =>
    this.#recordsOfCall(callId).map(readRecord).map(this.#fill);

  readonly readRulesSequence = async (): Promise<number> =>
    this.#reader.readNumber(`SELECT value FROM settings WHERE name = 'rules_sequence'`);

  readonly noteRulesSequence = async (sequence: number): Promise<void> => {
    await this.#link.write<void>({ name: 'noteRulesSequence', sequence });
  };

  readonly listToolUses = async (sessionId: string): Promise<readonly stores.ToolUse[]> => {
    await this.#link.catchUp();
    const rows = this.#select.toolUses.all(sessionId);
    return rows.map((row) => ({ tool: String(row['tool']), lastMs: Number(row['last_ms']) }));
  };

  readonly verifyInBackground = (): void => this.#link.verifyInBackground();

  readonly sealed = (): string | undefined => this.#link.sealedBecause;

  readonly onSealed = (listener: (reason: string) => void): void => this.#link.onSealed(listener);

  readonly onHealed = (listener: (reason: string) => void): void => this.#link.onHealed(listener);

  readonly close = async (): Promise<void> => {
    await this.#link.close();
    this.#reader.close();
  };

  /** All of the snapshot, as it is on disk. */
  #load(version: number): void {
    for (const known of this.#sessions.listKnown(mostEnded))
      this.#snapshot.apply({ kind: 'session', ...known }, version);
    for (const kind of ['mode', 'organisation', 'tool-pins', 'workspace-roots', 'standing'] as const)
      this.#refresh({ kind }, version);
  }

  #refresh(touched: Touched, version: number): void {
    switch (touched.kind) {
      case 'session': {
        const known = this.#sessions.findKnown(touched.id);
        return known && this.#snapshot.apply({ kind: 'session', ...known }, version);
      }
      case 'mode':
        return this.#snapshot.apply({ kind: 'mode', mode: this.#modes.current() }, version);
      case 'organisation':
        return this.#snapshot.apply({ kind: 'organisation', organisation: this.#organisation.read() }, version);
      case 'tool-pins':
        return this.#snapshot.apply({ kind: 'tool-pins', pins: this.#readPins() }, version);
      case 'workspace-roots':
        return this.#snapshot.apply(
          { kind: 'workspace-roots', roots: this.#select.roots.all().map(readWorkspaceRoot) },
          version,
        );
      case 'standing':
        return this.#snapshot.apply({ kind: 'standing', standing: this.#approvals.listStanding() }, version);
    }
  }

  #readPins(): readonly stores.ToolPin[] {
    return this.#select.pins.all().map((row) => ({
      name: String(row['name']),
      version: String(row['version']),
      fileSha256: String(row['file_sha256']),
      definitionSha256: String(row['definition_sha256']),
      acceptedAtMs: Number(row['accepted_at_ms']),
      acceptedBy: String(row['accepted_by']),
    }));
  }
}

function readWorkspaceRoot(row: Row): stores.WorkspaceRoot {
  const { rules: bytes } = row;
  const rules = {
    bytes: bytes as Uint8Array,
    acceptedAtMs: Number(row['rules_accepted_at_ms']),
    acceptedBy: String(row['rules_accepted_by']),
  };
  return {
    path: String(row['path']),
    addedAtMs: Number(row['added_at_ms']),
    addedBy: String(row['added_by']),
    ...(bytes === null ? {} : { rules }),
  };
}
