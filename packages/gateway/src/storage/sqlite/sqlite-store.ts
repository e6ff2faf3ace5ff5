import { Worker } from 'node:worker_threads';
import type { Json } from '@sallyport/contract';
import type { StoredCheckpoint, StoredRecord } from '@sallyport/log';
import type { Reservation } from '../../call/call.ts';
import { ConfigError, Fault } from '../../call/fault.ts';
import { threadFile } from './thread-file.ts';
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
import { ContentReader } from './content-reader.ts';
import type { Row, Statement } from './database.ts';
import { ApprovalReader } from './approval-reader.ts';
import { Database } from './database.ts';
import { readRecord } from './log-reader.ts';
import { ModeReader } from './mode-reader.ts';
import { OrganisationReader } from './organisation-reader.ts';
import { SessionReader } from './session-reader.ts';
import type { FromWriter, ToWriter } from './writer-thread.ts';
import { BackgroundVerification } from './background-verification.ts';
import type { Operation, Recorded, Sealed, WriterOptions, Written } from './writer.ts';

const mostRemembered = 1000;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the writer thread, brings the schema up to date and checks the end of the log. Rejects with ConfigError. */
export async function openSqliteStore(options: WriterOptions): Promise<stores.Store> {
  const worker = new Worker(threadFile('writer-thread'), {
    workerData: options,
    name: 'sallyport-writer',
  });
  const first = await new Promise<FromWriter>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
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
  readonly #worker: Worker;
  readonly #reader: Database;
  readonly #approvals: ApprovalReader;
  readonly #content: ContentReader;
  readonly #modes: ModeReader;
  readonly #organisation: OrganisationReader;
  readonly #waiting = new Map<number, Waiting>();
  readonly #sessions: SessionReader;
  readonly #byToken = new Map<string, Session>();
  readonly #byId = new Map<string, Session>();
  readonly #select: Record<
    'dedupe' | 'counter' | 'intents' | 'records' | 'recordsOfCall' | 'toolUses' | 'secrets' | 'pins' | 'roots',
    Statement
  >;
  readonly #verification: BackgroundVerification;
  readonly #sealListeners: ((reason: string) => void)[] = [];
  readonly #healListeners: ((reason: string) => void)[] = [];
  /** Outcomes that a sealed store could not take. Nothing new is admitted then, so that there are few. */
  #unrecorded: stores.Settlement[] = [];
  #nextId = 1;
  #outgoing: ToWriter[] = [];
  #sealed: Sealed | undefined;
  #mode: Mode;
  #roots: readonly stores.WorkspaceRoot[] | undefined;
  #closed: (() => void) | undefined;

  constructor(worker: Worker, options: WriterOptions) {
    const reader = Database.openForReading(options.databaseFile);
    this.#worker = worker;
    this.#reader = reader;
    this.#verification = new BackgroundVerification(options, (problems) => this.#verified(problems));
    this.#approvals = new ApprovalReader(reader);
    this.#content = new ContentReader(reader);
    this.#sessions = new SessionReader(reader);
    this.#select = {
      dedupe: reader.prepare('SELECT * FROM dedupe WHERE session_id = ? AND key = ? AND expires_at_ms > ?'),
      counter: reader.prepare('SELECT window_start_ms, used FROM counters WHERE key = ? AND window_ms = ?'),
      secrets: reader.prepare('SELECT * FROM secrets ORDER BY name'),
      pins: reader.prepare('SELECT * FROM tool_pins ORDER BY name, version'),
      roots: reader.prepare('SELECT * FROM workspace_roots ORDER BY path'),
      intents: reader.prepare('SELECT * FROM open_intents ORDER BY position'),
      recordsOfCall: reader.prepare(
        'SELECT * FROM records WHERE substr(leaf, 13, 16) = ? ORDER BY position LIMIT 1000',
      ),
      toolUses: reader.prepare('SELECT tool, last_ms FROM tool_uses WHERE session_id = ?'),
      records: reader.prepare('SELECT * FROM records WHERE position >= ? ORDER BY position LIMIT ?'),
    };
    this.#modes = new ModeReader(reader);
    this.#mode = this.#modes.current();
    this.#organisation = new OrganisationReader(reader);
    worker.on('message', (message: FromWriter) => this.#receive(message));
    worker.on('error', (error: Error) => this.#fail(`the writer thread failed: ${error.message}`));
    worker.on('exit', () => this.#fail('the writer thread has ended'));
  }

  readonly admit = (admission: stores.Admission): Promise<stores.Admitted> =>
    this.#write<stores.Admitted>({ name: 'admit', admission, nowMs: Date.now() });

  readonly settle = async (settlement: stores.Settlement): Promise<{ readonly index: number }> => {
    try {
      return this.#noteQuarantine(await this.#write<Recorded>({ name: 'settle', settlement }));
    } catch (error) {
      if (error instanceof Fault && error.code === 'SEALED') this.#unrecorded.push(settlement);
      throw error;
    }
  };

  readonly append = async (
    entry: stores.LogEntry,
    misconduct?: stores.Misconduct,
  ): Promise<{ readonly index: number }> =>
    this.#noteQuarantine(await this.#write<Recorded>({ name: 'append', entry, misconduct }));

  readonly createSession = async (session: stores.NewSession): Promise<void> => {
    await this.#write<void>({ name: 'createSession', session });
  };

  readonly endSession = async (id: string): Promise<boolean> => {
    const ended = await this.#write<boolean>({ name: 'endSession', id });
    this.#forgetSession(id);
    return ended;
  };

  readonly grantLease = async (sessionId: string, lease: stores.NewLease, nowMs: number): Promise<boolean> => {
    const granted = await this.#write<boolean>({ name: 'grantLease', sessionId, lease, nowMs });
    this.#forgetSession(sessionId);
    return granted;
  };

  readonly revokeLease = async (sessionId: string, nowMs: number): Promise<boolean> => {
    const revoked = await this.#write<boolean>({ name: 'revokeLease', sessionId, nowMs });
    this.#forgetSession(sessionId);
    return revoked;
  };

  readonly changeMode = async (change: stores.ModeChange): Promise<boolean> => {
    const changed = await this.#write<boolean>({ name: 'changeMode', change });
    if (changed) this.#mode = change.to;
    return changed;
  };

  readonly changeOrganisation = async (change: OrganisationChange): Promise<boolean> => {
    const changed = await this.#write<boolean>({ name: 'changeOrganisation', change });
    this.#organisation.forget();
    return changed;
  };

  readonly findSessionByToken = (tokenSha256: string): Session | undefined =>
    this.#remember(this.#byToken, tokenSha256, () => this.#sessions.findByToken(tokenSha256));

  readonly findSession = (id: string): Session | undefined => this.#sessions.findById(id);

  readonly findStanding = (id: string): Session | undefined =>
    this.#remember(this.#byId, id, () => this.#sessions.findById(id));

  readonly listSessions = (): readonly Session[] => this.#sessions.list();

  readonly listLeases = (sessionId: string): readonly Lease[] => this.#sessions.listLeases(sessionId);

  readonly readMode = (): Mode => this.#mode;

  readonly listModeChanges = (limit: number): readonly stores.ModeChange[] => this.#modes.list(limit);

  readonly readOrganisation = (): Organisation => this.#organisation.read();

  readonly findDedupe = (sessionId: string, key: string, nowMs: number): stores.DedupeEntry | undefined => {
    const row = this.#select.dedupe.get(sessionId, key, nowMs);
    if (row === undefined) return undefined;
    const { output, kept_hash: keptHash, kept_bytes: keptBytes } = row;
    return {
      key,
      argumentsSha256: String(row['arguments_sha256']),
      callId: String(row['call_id']),
      state: row['state'] as stores.DedupeEntry['state'],
      ...(output === null ? {} : { output: JSON.parse(String(output)) as Json }),
      ...(keptHash === null ? {} : { kept: { hash: String(keptHash), sizeBytes: Number(keptBytes) } }),
      expiresAtMs: Number(row['expires_at_ms']),
    };
  };

  readonly usedOf = (reservation: Reservation, nowMs: number): { used: number; resetsInMs: number } => {
    const windowStartMs = nowMs - (nowMs % reservation.windowMs);
    const row = this.#select.counter.get(reservation.key, reservation.windowMs);
    const current = row !== undefined && Number(row['window_start_ms']) >= windowStartMs;
    return { used: current ? Number(row['used']) : 0, resetsInMs: windowStartMs + reservation.windowMs - nowMs };
  };

  readonly setSecret = async (secret: stores.SealedSecret): Promise<void> => {
    await this.#write<void>({ name: 'setSecret', secret });
  };

  readonly removeSecret = (secretName: string): Promise<boolean> =>
    this.#write<boolean>({ name: 'removeSecret', secretName });

  readonly listSecrets = (): readonly stores.SealedSecret[] =>
    this.#select.secrets.all().map((row) => ({
      name: String(row['name']),
      ciphertext: row['ciphertext'] as Uint8Array,
      updatedAtMs: Number(row['updated_at_ms']),
    }));

  readonly openApproval = (task: NewApproval): Promise<ApprovalTask> =>
    this.#write<ApprovalTask>({ name: 'openApproval', task });

  readonly decideApproval = (decision: Decision): Promise<ApprovalTask | undefined> =>
    this.#write<ApprovalTask | undefined>({ name: 'decideApproval', decision });

  readonly ageApprovals: stores.ApprovalIndex['ageApprovals'] = (nowMs) => this.#write({ name: 'ageApprovals', nowMs });

  readonly findApproval = (id: string): ApprovalTask | undefined => this.#approvals.find(id);

  readonly findApprovalByBinding: stores.ApprovalIndex['findApprovalByBinding'] = (sessionId, binding) =>
    this.#approvals.findByBinding(sessionId, binding);

  readonly listApprovals: stores.ApprovalIndex['listApprovals'] = (filter) => this.#approvals.list(filter);

  readonly listForAgent: stores.ApprovalIndex['listForAgent'] = (filter) => this.#approvals.listForAgent(filter);

  readonly listUntold: stores.ApprovalIndex['listUntold'] = (filter) => this.#approvals.listUntold(filter);

  readonly noteTold = async (taskId: string, nowMs: number): Promise<void> => {
    await this.#write<void>({ name: 'noteTold', taskId, nowMs });
  };

  readonly nextApprovalDeadlineMs = (): number | undefined => this.#approvals.nextDeadlineMs();

  readonly proposePlan = async (plan: NewPlan): Promise<void> => {
    await this.#write<void>({ name: 'proposePlan', plan });
  };

  readonly decidePlan = (decision: PlanDecision): Promise<Plan | undefined> =>
    this.#write<Plan | undefined>({ name: 'decidePlan', decision });

  readonly findPlan = (id: string): Plan | undefined => this.#approvals.findPlan(id);

  readonly isTokenUsed = (tokenId: string): boolean => this.#approvals.isTokenUsed(tokenId);

  readonly listPlans: stores.ApprovalIndex['listPlans'] = (filter) => this.#approvals.listPlans(filter);

  readonly revokeToken = async (tokenId: string, expiresAtMs: number): Promise<void> => {
    await this.#write<void>({ name: 'revokeToken', tokenId, expiresAtMs });
  };

  readonly grantStanding = async (standing: StandingApproval): Promise<void> => {
    await this.#write<void>({ name: 'grantStanding', standing });
  };

  readonly revokeStanding = (id: string, nowMs: number): Promise<boolean> =>
    this.#write<boolean>({ name: 'revokeStanding', id, nowMs });

  readonly listStanding: stores.ApprovalIndex['listStanding'] = (filter) => this.#approvals.listStanding(filter);

  readonly pinTool = async (pin: stores.ToolPin): Promise<void> => {
    await this.#write<void>({ name: 'pinTool', pin });
  };

  readonly unpinTool = (toolName: string, version: string): Promise<boolean> =>
    this.#write<boolean>({ name: 'unpinTool', toolName, version });

  readonly listToolPins = (): readonly stores.ToolPin[] =>
    this.#select.pins.all().map((row) => ({
      name: String(row['name']),
      version: String(row['version']),
      fileSha256: String(row['file_sha256']),
      definitionSha256: String(row['definition_sha256']),
      acceptedAtMs: Number(row['accepted_at_ms']),
      acceptedBy: String(row['accepted_by']),
    }));

  readonly putWorkspaceRoot = async (root: stores.WorkspaceRoot): Promise<void> => {
    await this.#write<void>({ name: 'putWorkspaceRoot', root });
    this.#roots = undefined;
  };

  readonly removeWorkspaceRoot = async (path: string): Promise<boolean> => {
    const removed = await this.#write<boolean>({ name: 'removeWorkspaceRoot', path });
    this.#roots = undefined;
    return removed;
  };

  readonly listWorkspaceRoots = (): readonly stores.WorkspaceRoot[] =>
    (this.#roots ??= this.#select.roots.all().map(readWorkspaceRoot));

  readonly recordContent = async (grant: stores.ContentGrant): Promise<void> => {
    await this.#write<void>({ name: 'recordContent', grant });
  };

  readonly forgetContent = (hash: string): Promise<boolean> => this.#write<boolean>({ name: 'forgetContent', hash });

  readonly publishArtifact = (artifact: stores.Artifact): Promise<'published' | 'exists'> =>
    this.#write<'published' | 'exists'>({ name: 'publishArtifact', artifact });

  readonly mayUseContent: stores.ContentIndex['mayUseContent'] = (sessionId, hash) =>
    this.#content.mayUse(sessionId, hash);

  readonly listContent: stores.ContentIndex['listContent'] = () => this.#content.list();

  readonly findArtifact: stores.ContentIndex['findArtifact'] = (id) => this.#content.findArtifact(id);

  readonly listArtifacts: stores.ContentIndex['listArtifacts'] = (filter) => this.#content.listArtifacts(filter);

  readonly listOpenIntents = (): readonly stores.OpenIntent[] =>
    this.#select.intents.all().map((row) => ({
      callId: String(row['call_id']),
      index: Number(row['position']),
      sessionId: String(row['session_id']),
      timeMs: Number(row['time_ms']),
    }));

  readonly logSize = (): number => this.#reader.readNumber('SELECT coalesce(max(position) + 1, 0) FROM records');

  readonly readRecords = (fromIndex: number, limit: number): readonly StoredRecord[] =>
    this.#select.records.all(fromIndex, limit).map(readRecord);

  readonly lastCheckpoint = (): StoredCheckpoint | undefined => {
    const row = this.#reader.prepare('SELECT size, note FROM checkpoints ORDER BY size DESC LIMIT 1').get();
    return row === undefined ? undefined : { size: Number(row['size']), note: String(row['note']) };
  };

  readonly readRecordsOfCall = (callId: string): readonly StoredRecord[] =>
    this.#select.recordsOfCall.all(Buffer.from(callId.replaceAll('-', ''), 'hex')).map(readRecord);

  readonly readRulesSequence = (): number =>
    this.#reader.readNumber(`SELECT value FROM settings WHERE name = 'rules_sequence'`);

  readonly noteRulesSequence = async (sequence: number): Promise<void> => {
    await this.#write<void>({ name: 'noteRulesSequence', sequence });
  };

  readonly listToolUses = (sessionId: string): readonly stores.ToolUse[] =>
    this.#select.toolUses.all(sessionId).map((row) => ({ tool: String(row['tool']), lastMs: Number(row['last_ms']) }));

  readonly verifyInBackground = (): void => this.#verification.start();

  readonly sealed = (): string | undefined => this.#sealed?.reason;

  readonly onSealed = (listener: (reason: string) => void): void => {
    this.#sealListeners.push(listener);
  };

  readonly onHealed = (listener: (reason: string) => void): void => {
    this.#healListeners.push(listener);
  };

  readonly close = async (): Promise<void> => {
    this.#verification.close();
    await new Promise<void>((resolve) => {
      this.#closed = resolve;
      this.#post('close');
    });
    this.#reader.close();
  };

  /** Sessions change only through this store, so what was read stays true, but for spending, until it is forgotten. */
  #remember(cache: Map<string, Session>, key: string, read: () => Session | undefined): Session | undefined {
    const known = cache.get(key);
    if (known !== undefined) return known;
    const session = read();
    if (session === undefined) return undefined;
    if (cache.size >= mostRemembered) cache.clear();
    cache.set(key, session);
    return session;
  }

  #forgetSession(id: string): void {
    this.#byId.delete(id);
    for (const [token, session] of this.#byToken) if (session.id === id) this.#byToken.delete(token);
  }

  #noteQuarantine(recorded: Recorded): Recorded {
    if (recorded.quarantined !== undefined) this.#forgetSession(recorded.quarantined);
    return recorded;
  }

  #write<Value>(operation: Operation): Promise<Value> {
    if (this.#closed !== undefined) return Promise.reject(new Fault('STOPPING', 'the store is closed'));
    return new Promise<Value>((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#post({ id, operation });
    });
  }

  /** What comes in one turn of the event loop goes over in one message: each one wakes the other thread. */
  #post(message: ToWriter): void {
    this.#outgoing.push(message);
    if (this.#outgoing.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const messages = this.#outgoing;
    this.#outgoing = [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
    this.#worker.postMessage(messages);
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case 'closed':
        return this.#closed?.();
      case 'sealed':
        return this.#seal(message.sealed);
      case 'healed':
        return this.#heal();
      case 'written':
        // Said before the answers, so that nobody reads a failed write while the store still looks healthy.
        if (message.sealed !== undefined) this.#seal(message.sealed);
        for (const [at, id] of message.ids.entries()) this.#answer(id, message.results[at]);
        return;
      // Only at the opening, before there is a store.
      case 'ready':
      case 'failed':
    }
  }

  #answer(id: number, result: Written | undefined): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (result === undefined || waiting === undefined) return;
    if (result.ok) waiting.resolve(result.value);
    else waiting.reject(new Fault(result.sealed ? 'SEALED' : 'INTERNAL', result.error));
  }

  #seal(sealed: Sealed): void {
    const before = this.#sealed;
    if (before !== undefined && (before.isChanged || !sealed.isChanged)) return;
    this.#sealed = sealed;
    if (sealed.isChanged) this.#verification.start({ isThorough: true });
    for (const listener of this.#sealListeners) listener(sealed.reason);
  }

  #heal(): void {
    const reason = this.#sealed?.reason;
    if (reason === undefined) return;
    this.#sealed = undefined;
    const late = this.#unrecorded;
    this.#unrecorded = [];
    // What fails again is kept again, unless it was recorded after all.
    for (const settlement of late) this.settle(settlement).catch(() => undefined);
    // Sessions and the rest are read anew: what was read while sealed may have been somebody else's.
    this.#byId.clear();
    this.#byToken.clear();
    this.#organisation.forget();
    this.#mode = this.#modes.current();
    for (const listener of this.#healListeners) listener(reason);
  }

  /** Nobody writes into what was changed; and what is whole again is opened again. */
  #verified(problems: readonly string[]): void {
    if (problems.length > 0) {
      const sealed = {
        reason: `something other than Sallyport changed its database. ${problems.join(' ')}`,
        isChanged: true,
      };
      this.#post({ seal: sealed });
      this.#seal(sealed);
    } else if (this.#sealed?.isChanged === true) {
      this.#post('verified');
    }
    if (this.#sealed?.isChanged === true) this.#verification.repeat();
  }

  #fail(reason: string): void {
    if (this.#closed === undefined) this.#seal({ reason, isChanged: false });
    for (const waiting of this.#waiting.values()) waiting.reject(new Fault('SEALED', reason));
    this.#waiting.clear();
    this.#closed?.();
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
