import type { LogSource, NodeReader, RecordKind, RecordResult, StoredCheckpoint, StoredRecord } from '@sallyport/log';
import type { Anomaly, AnomalyKind, AnomalyResponse, NewAnomaly } from '../call/anomaly.ts';
import type {
  ApprovalStatus,
  ApprovalTask,
  Decision,
  NewApproval,
  NewPlan,
  Plan,
  PlanDecision,
  StandingApproval,
} from '../call/approval.ts';
import type { Door, KeptResult, Reservation } from '../call/call.ts';
import type { Change } from '../call/journal.ts';
import type { OrganisationChange } from '../call/organisation.ts';
import type { Redacted } from '../call/redacted.ts';
import type { Misconduct } from './ledger.ts';
import type { Budget, Lease, LeaseScope, Mode, Principal, Session } from '../call/session.ts';

// What is not asked on every call. Changes are as durable as those of the ledger; reads see every change whose promise
// has resolved, and may wait.

export interface NewSession {
  readonly id: string;
  readonly principal: Principal;
  readonly agent: string;
  /** SHA-256 of the token, hexadecimal. The token itself is never stored. */
  readonly tokenSha256: string;
  readonly createdAtMs: number;
  /** Absent: the usual doors of its kind. */
  readonly door?: Door;
  readonly expiresAtMs?: number;
  readonly workingDirectory: string;
  /** Absent: the daemon's own. */
  readonly workspace?: string;
  /** Absent: nobody is called back. */
  readonly callbackUrl?: string;
  readonly lease: NewLease;
  /** Absent: no limit. */
  readonly budget?: Budget;
}

export interface NewLease extends LeaseScope {
  readonly id: string;
  /** Absent: as long as the session. */
  readonly expiresAtMs?: number;
  /** Absent: only the budget of the session counts. */
  readonly budget?: Budget;
}

export interface SessionRepository {
  readonly createSession: (session: NewSession) => Promise<void>;
  /** False when the session does not exist or has ended before. Ending is final. */
  readonly endSession: (id: string) => Promise<boolean>;
  /** Ends the present lease for good and puts another in its place. False when the session is not active. */
  readonly grantLease: (sessionId: string, lease: NewLease, nowMs: number) => Promise<boolean>;
  /** False when no lease is in force. */
  readonly revokeLease: (sessionId: string, nowMs: number) => Promise<boolean>;
  /** With its spending as it is now. */
  readonly readSession: (id: string) => Promise<Session | undefined>;
  /** One that ended long ago too, which the snapshot no longer knows. */
  readonly readSessionByToken: (tokenSha256: string) => Promise<Session | undefined>;
  /** All there ever were, oldest first. */
  readonly listSessions: () => Promise<readonly Session[]>;
  /** All leases of a session, oldest first. */
  readonly listLeases: (sessionId: string) => Promise<readonly Lease[]>;
}

/** The first success of a dedupe key, or the call that is still running with it. */
export interface DedupeEntry {
  readonly key: string;
  readonly argumentsSha256: string;
  readonly callId: string;
  /** `running` after a restart means that the outcome is unknown. */
  readonly state: 'running' | 'succeeded' | 'unknown';
  /** The output, encrypted with a key that is not in this store. */
  readonly sealedOutput?: Uint8Array;
  /** Instead of an output that is too large to be kept here. */
  readonly kept?: KeptResult;
  readonly expiresAtMs: number;
}

export interface ToolUse {
  readonly tool: string;
  readonly lastMs: number;
}

/** What a call left behind for later ones. */
export interface CallMemory {
  readonly findDedupe: (sessionId: string, key: string, nowMs: number) => Promise<DedupeEntry | undefined>;
  /** How much of a window is used, and when it ends. Advice: only `admit` decides. */
  readonly usedOf: (
    reservation: Reservation,
    nowMs: number,
  ) => Promise<{ readonly used: number; readonly resetsInMs: number }>;
  /** Tools that a session has used, and when last, before and after a restart. */
  readonly listToolUses: (sessionId: string) => Promise<readonly ToolUse[]>;
}

/** Intents without outcome. After a start these are the calls that a crash cut off. */
export interface OpenIntent {
  readonly callId: string;
  readonly index: number;
  readonly sessionId: string;
  readonly timeMs: number;
}

/** A record of a call that was decided: an intent or a refusal. */
export interface DecidedRecord {
  readonly index: number;
  /**
   * The id of its session in 32 hexadecimal digits (zeros: none), then its payload without what is this call's alone, such
   * as its ids: the same for calls that are alike.
   */
  readonly likeness: string;
}

/** Records that stand near each other and end calls of one tool in the same way, or tell of the same event. */
export interface CountedEndings {
  readonly kind: RecordKind;
  readonly result: RecordResult;
  /** Empty: the record names none. */
  readonly tool: string;
  readonly refusalCode?: string;
  readonly event?: string;
  readonly count: number;
  /** The earliest and the latest of them. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The log, to be read. What takes a range leaves out its end. */
export interface RecordRepository {
  /** Oldest first. */
  readonly listOpenIntents: () => Promise<readonly OpenIntent[]>;
  readonly logSize: () => Promise<number>;
  readonly readRecords: (fromIndex: number, limit: number) => Promise<readonly StoredRecord[]>;
  /** The same as they are in the store itself: without the payloads that archives have. */
  readonly readStored: (fromIndex: number, limit: number) => Promise<readonly StoredRecord[]>;
  /** Erased ones are left out. In the order of the log. */
  readonly readDecided: (fromIndex: number, toIndex: number) => Promise<readonly DecidedRecord[]>;
  /** Of all records but intents and erased ones. Ask for ranges of some hundreds, so that no call waits long. */
  readonly countEndings: (fromIndex: number, toIndex: number) => Promise<readonly CountedEndings[]>;
  /** The records of one call, in the order of the log, at most 1000. */
  readonly readRecordsOfCall: (callId: string) => Promise<readonly StoredRecord[]>;
  readonly lastCheckpoint: () => Promise<StoredCheckpoint | undefined>;
}

/** A session put or received this content, and may use it from now on. */
export interface ContentGrant {
  readonly sessionId: string;
  /** BLAKE3, 64 hexadecimal digits. */
  readonly hash: string;
  readonly sizeBytes: number;
  readonly nowMs: number;
}

export interface KnownContent {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly lastUsedMs: number;
  /** Something that lasts points to it, such as an artifact. */
  readonly referenced: boolean;
}

export interface Artifact {
  readonly id: string;
  readonly contentHash: string;
  readonly sizeBytes: number;
  readonly category: string;
  /** `key=value` each. */
  readonly metadata: readonly string[];
  readonly sessionId: string;
  readonly agent: string;
  readonly publishedAtMs: number;
}

/** What is known about content; the bytes are in the content store. */
export interface ContentRepository {
  readonly recordContent: (grant: ContentGrant) => Promise<void>;
  readonly mayUseContent: (sessionId: string, hash: string) => Promise<boolean>;
  readonly listContent: () => Promise<readonly KnownContent[]>;
  /** Drops what is known about unreferenced content, if anything. False when something references it. */
  readonly forgetContent: (hash: string) => Promise<boolean>;
  /** Publishing is final: an id that is taken stays what it was. */
  readonly publishArtifact: (artifact: Artifact) => Promise<'published' | 'exists'>;
  readonly findArtifact: (id: string) => Promise<Artifact | undefined>;
  /** Newest first. Absent filters match all. */
  readonly listArtifacts: (filter: {
    readonly category?: string;
    readonly sessionId?: string;
  }) => Promise<readonly Artifact[]>;
}

/** A secret as it is kept: encrypted with a key that is not in this store. */
export interface SealedSecret {
  readonly name: string;
  readonly ciphertext: Uint8Array;
  readonly updatedAtMs: number;
}

/** Secrets that people gave the gate. The store never sees a value. */
export interface SecretRepository {
  /** Replaces a secret of the same name. */
  readonly setSecret: (secret: SealedSecret) => Promise<void>;
  /** False when no secret has this name. */
  readonly removeSecret: (name: string) => Promise<boolean>;
  /** By name. */
  readonly listSecrets: () => Promise<readonly SealedSecret[]>;
}

/** A tool as an operator accepted it: only exactly this may run under its name and version. */
export interface ToolPin {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the program's bytes, hexadecimal. For a tool without a program of its own, of its description. */
  readonly fileSha256: string;
  /** SHA-256 over name, description and schemas, hexadecimal. */
  readonly definitionSha256: string;
  readonly acceptedAtMs: number;
  /** Who accepted it, or the id of the rule that takes new tools in. */
  readonly acceptedBy: string;
}

/** Which tools from outside were accepted. */
export interface ToolPinRepository {
  /** Replaces the pin of the same name and version. */
  readonly pinTool: (pin: ToolPin) => Promise<void>;
  /** False when there was none. */
  readonly unpinTool: (name: string, version: string) => Promise<boolean>;
}

/** What became due. */
export interface Aged {
  readonly expired: readonly ApprovalTask[];
  readonly reminders: readonly ApprovalTask[];
  readonly expiredPlans: readonly Plan[];
}

/** Of one session, or in one state; absent: all. */
export type PlanFilter = { readonly limit: number } & (
  | { readonly sessionId?: string; readonly status?: never }
  | { readonly status: Plan['status']; readonly sessionId?: never }
);

/** Decisions of people. All of them survive a restart, and each is used as often as it was given. */
export interface ApprovalRepository {
  /** Opens a task, or joins the pending one with the same binding: another request id wants one more run. */
  readonly openApproval: (task: NewApproval) => Promise<ApprovalTask>;
  /** Undefined when the task is not pending any more, is too old, or shows another effect. */
  readonly decideApproval: (decision: Decision) => Promise<ApprovalTask | undefined>;
  /**
   * Ends tasks and plans that nobody decided in time, with a record of each in the log, in one commit; and marks whom to
   * remind. Each is returned once in each list. Of many, some at a time: what is left is still due.
   */
  readonly ageApprovals: (nowMs: number) => Promise<Aged>;
  readonly findApproval: (id: string) => Promise<ApprovalTask | undefined>;
  /** The newest task of a session with this binding. */
  readonly findApprovalByBinding: (sessionId: string, binding: string) => Promise<ApprovalTask | undefined>;
  /** Newest first. */
  readonly listApprovals: (filter: {
    readonly status?: ApprovalStatus;
    readonly sessionId?: string;
    readonly limit: number;
  }) => Promise<readonly ApprovalTask[]>;
  /** Of one state, oldest first: those that were opened after the task `after`, or from the first on. */
  readonly listApprovalsAfter: (filter: {
    readonly status: ApprovalStatus;
    readonly after?: Pick<ApprovalTask, 'id' | 'createdAtMs'>;
    readonly limit: number;
  }) => Promise<readonly ApprovalTask[]>;
  /** How many tasks are pending, counted up to `most`. */
  readonly countAllPending: (most: number) => Promise<number>;
  /** How many tasks of a session are pending, counted up to `most`. */
  readonly countPending: (sessionId: string, most: number) => Promise<number>;
  /** Pending tasks of a session that show this effect. */
  readonly listPendingLike: (sessionId: string, effectSha256: string) => Promise<readonly ApprovalTask[]>;
  /** Pending tasks for which the rules name this agent, newest first. Whether it may decide is another question. */
  readonly listForAgent: (filter: {
    readonly approver: string;
    readonly limit: number;
  }) => Promise<readonly ApprovalTask[]>;
  /** Tasks that ended, of sessions that are to be called back, have not ended, and were not told. The first ended first. */
  readonly listUntold: (filter: {
    readonly endedAfterMs: number;
    readonly limit: number;
  }) => Promise<readonly ApprovalTask[]>;
  /** The caller has heard how the task ended. */
  readonly noteTold: (taskId: string, nowMs: number) => Promise<void>;
  /** When the next task is to be reminded of, or a task or plan expires. Undefined: none is pending. */
  readonly nextApprovalDeadlineMs: () => Promise<number | undefined>;
  readonly proposePlan: (plan: NewPlan) => Promise<void>;
  /** Undefined when the plan is not pending any more, or too old. */
  readonly decidePlan: (decision: PlanDecision) => Promise<Plan | undefined>;
  readonly findPlan: (id: string) => Promise<Plan | undefined>;
  /** Newest first. */
  readonly listPlans: (filter: PlanFilter) => Promise<readonly Plan[]>;
  /** Whether a token was used or revoked. One that may be used again is told by its claims. */
  readonly isTokenUsed: (tokenId: string) => Promise<boolean>;
  /** No token of this id is taken any more. */
  readonly revokeToken: (tokenId: string, expiresAtMs: number) => Promise<void>;
  readonly grantStanding: (standing: StandingApproval) => Promise<void>;
  /** False when it was not in force. */
  readonly revokeStanding: (id: string, nowMs: number) => Promise<boolean>;
}

/** One change of the mode: who or what made it, and why. */
export interface ModeChange {
  readonly from: Mode;
  readonly to: Mode;
  /** The person. Absent: the gate did it by itself. */
  readonly by?: string;
  readonly cause: Redacted;
  readonly atMs: number;
}

/** The mode, and how it came about. */
export interface ModeRepository {
  /**
   * One transaction: the mode, its history and a record in the log. False, and nothing changes, when the mode is not
   * `from` any more. Reads show the new mode from the moment the promise resolves.
   */
  readonly changeMode: (change: ModeChange) => Promise<boolean>;
  /** Newest first. */
  readonly listModeChanges: (limit: number) => Promise<readonly ModeChange[]>;
}

/** What of an anomaly changes while it goes on. */
export interface AnomalyProgress {
  readonly id: string;
  readonly lastAtMs: number;
  readonly sightings: number;
}

/** Absent filters match all. */
export interface AnomalyFilter {
  readonly agent?: string;
  readonly kind?: AnomalyKind;
  readonly sessionId?: string;
  /** Those that went on at this moment or later. */
  readonly sinceMs?: number;
  /** Only those that nobody has seen. */
  readonly unseen?: boolean;
  /** Only those of which nobody was notified. */
  readonly untold?: boolean;
  /** Only those that come after this one in the list. */
  readonly after?: string;
  readonly limit: number;
}

/** What was out of the ordinary, for people to look at. */
export interface AnomalyRepository {
  /**
   * One commit: the anomaly, a record of it in the log, and with `misconduct` the quarantine of its session, with the
   * record that every quarantine has. Resolves with whether the session was put into quarantine by this.
   */
  readonly openAnomaly: (anomaly: NewAnomaly, misconduct?: Misconduct) => Promise<{ readonly quarantined: boolean }>;
  /** Something was done about it. */
  readonly noteResponse: (id: string, response: AnomalyResponse) => Promise<void>;
  /** How anomalies that go on have gone on. */
  readonly continueAnomalies: (progress: readonly AnomalyProgress[]) => Promise<void>;
  /** People were notified of it. */
  readonly noteAnomalyTold: (id: string, nowMs: number) => Promise<void>;
  /** Undefined: there is none with this id. The first person who saw it stays on record. */
  readonly acknowledgeAnomaly: (id: string, by: string, nowMs: number) => Promise<Anomaly | undefined>;
  readonly findAnomaly: (id: string) => Promise<Anomaly | undefined>;
  /** Those that began last come first. */
  readonly listAnomalies: (filter: AnomalyFilter) => Promise<readonly Anomaly[]>;
}

/** Who works here. */
export interface OrganisationRepository {
  /** False when there was nothing to remove. */
  readonly changeOrganisation: (change: OrganisationChange) => Promise<boolean>;
}

/** A folder in which sessions may have their workspace, because an operator said so. */
export interface WorkspaceRoot {
  /** Absolute, without links. */
  readonly path: string;
  readonly addedAtMs: number;
  readonly addedBy: string;
  /** The rules of the project as an operator accepted them. Absent: none are in force. */
  readonly rules?: AcceptedProjectRules;
}

export interface AcceptedProjectRules {
  readonly bytes: Uint8Array;
  readonly acceptedAtMs: number;
  readonly acceptedBy: string;
}

/** Which folders sessions may work in, besides the daemon's own. */
export interface WorkspaceRepository {
  /** Replaces the one of the same path. */
  readonly putWorkspaceRoot: (root: WorkspaceRoot) => Promise<void>;
  /** False when there was none. */
  readonly removeWorkspaceRoot: (path: string) => Promise<boolean>;
}

export interface RulesRepository {
  /** How often rules were applied, as last noted: tells an older copy of them from the newest. 0: never noted. */
  readonly readRulesSequence: () => Promise<number>;
  readonly noteRulesSequence: (sequence: number) => Promise<void>;
}

/** Changes of one call that are about to be made, in their order. */
export interface NewJournalEntries {
  readonly callId: string;
  /** The call of the pipeline that this call was a step of. Absent: it was none. */
  readonly parentCallId?: string;
  readonly sessionId: string;
  readonly traceId: string;
  /** By its canonical name. */
  readonly tool: string;
  readonly agent: string;
  readonly atMs: number;
  readonly changes: readonly Change[];
}

export interface JournalEntry extends Change, Omit<NewJournalEntries, 'changes'> {
  /** Grows with every entry. */
  readonly position: number;
}

/** Of a call and its steps, of a run, of a session, or of what is or was at a path; else all. */
export type JournalFilter =
  | { readonly callId: string }
  | { readonly traceId: string }
  | { readonly sessionId: string }
  | { readonly path: string }
  | Readonly<Record<string, never>>;

/** What calls were about to change, for undo: hashes only. The bytes are in the trash. */
export interface JournalRepository {
  readonly writeJournal: (entries: NewJournalEntries) => Promise<void>;
  /** Oldest first; of more than `limit` the newest. */
  readonly readJournal: (filter: JournalFilter, limit: number) => Promise<readonly JournalEntry[]>;
  /** Gives the newest entry of this call about this path, whose state afterwards was not known, that state. */
  readonly completeJournal: (callId: string, path: string, after: Change['after']) => Promise<boolean>;
  /** Forgets entries that were written before this moment. Returns how many. */
  readonly dropJournal: (beforeMs: number) => Promise<number>;
  /** Every name in the trash that an entry refers to. */
  readonly listKept: () => Promise<ReadonlySet<string>>;
}

/** Whose records are erased. */
export type ErasureSubject =
  /** All their sessions. */
  | { readonly kind: 'agent' | 'person'; readonly name: string }
  | { readonly kind: 'session'; readonly id: string }
  /** A call with its steps and with what a person decided about it: worked out when it was asked for. */
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly callIds: readonly string[];
      readonly decisionIds: readonly string[];
      /** Results that are kept as content for nobody else. */
      readonly contentHashes: readonly string[];
    }
  /** Calls that ended before this moment. */
  | { readonly kind: 'before'; readonly timeMs: number };

/** What a person, or the retention of the rules, wants to have erased. */
export interface NewErasure {
  /** UUID version 7. */
  readonly id: string;
  readonly subject: ErasureSubject;
  readonly reason: Redacted;
  /** The person. Absent: the rules say how long payloads are kept. */
  readonly requestedBy?: string;
  readonly requestedAtMs: number;
  /** Nothing is erased before. */
  readonly dueAtMs: number;
  /** An earlier one has seen to all records before this. Absent: the log is read from its beginning. */
  readonly fromIndex?: number;
}

export interface Erasure extends NewErasure {
  /** `running`: it has begun, and goes on after a crash. Only a waiting one can be cancelled. */
  readonly status: 'waiting' | 'running' | 'done' | 'cancelled';
  /** Absent: it has not begun. */
  readonly startedAtMs?: number;
  /** The end of the log when it began: what is newer stays. */
  readonly untilIndex: number;
  /** How far it has come in the log. */
  readonly nextIndex: number;
  readonly erasedRecords: number;
  /** When it was done, or cancelled. */
  readonly endedAtMs?: number;
  readonly cancelledBy?: string;
}

/** Rows beside the log that hold what calls said: of these calls, of these sessions, or older than a moment. */
export interface ErasedRows {
  readonly callIds: readonly string[];
  /** Tasks of approval and plans that belong to these calls. */
  readonly decisionIds: readonly string[];
  readonly sessionIds: readonly string[];
  /** Rows of any call from before. Absent: age alone erases nothing. */
  readonly beforeMs?: number;
  /** Of the sessions: nothing that came later. */
  readonly untilMs: number;
}

/** Payloads and salts of records, taken out of the log. */
export interface RemovedRecords {
  readonly indexes: readonly number[];
  readonly atMs: number;
}

/** How long the rules have payloads kept. */
export interface Retention {
  /** Absent: for ever. */
  readonly days?: number;
  readonly sinceMs: number;
}

/**
 * What is taken out of the gate's memory for good. Each change is one transaction, with a record in the log that says what it
 * was and that is never erased itself.
 */
export interface ErasureRepository {
  readonly requestErasure: (erasure: NewErasure) => Promise<void>;
  /** False when it is not waiting any more. */
  readonly cancelErasure: (id: string, by: string, atMs: number) => Promise<boolean>;
  /** Newest first. */
  readonly listErasures: (limit: number) => Promise<readonly Erasure[]>;
  /** Records of the log that say what was taken out of it, oldest first. */
  readonly listRemovals: (kind: 'erased' | 'archived') => Promise<readonly StoredRecord[]>;
  /** The next one that is due, or has begun and is not done; undefined: none. */
  readonly nextErasure: (nowMs: number) => Promise<Erasure | undefined>;
  /** When the first one that waits is due. Undefined: none waits. */
  readonly nextErasureDueMs: () => Promise<number | undefined>;
  /** Undefined when it was cancelled meanwhile. One that has begun goes on as it is. */
  readonly startErasure: (id: string, atMs: number) => Promise<Erasure | undefined>;
  /** The payloads and salts of these records. Those that are gone already are passed over. Notes how far it has come. */
  readonly erasePayloads: (id: string, removed: RemovedRecords & { readonly nextIndex: number }) => Promise<void>;
  /** Dedupe results, journal, approvals and plans. A dedupe key stays taken, so that nothing runs twice. */
  readonly eraseRows: (rows: ErasedRows) => Promise<void>;
  /** Names in the trash that only such rows refer to. */
  readonly listKeptOnlyFor: (rows: ErasedRows) => Promise<readonly string[]>;
  /** Hashes of content that nobody but these sessions may use, or that was last used before; never what is published. */
  readonly listContentOnlyFor: (rows: Pick<ErasedRows, 'sessionIds' | 'beforeMs'>) => Promise<readonly string[]>;
  readonly endErasure: (id: string, atMs: number) => Promise<void>;
  /**
   * Overwrites what erased content may have left in the files of the store. False: that would hold up calls for too long,
   * and is done when the store closes. `isRoutine`: nobody waits for it, so that calls should hardly notice.
   */
  readonly compact: (how: { readonly isRoutine: boolean }) => Promise<boolean>;
  /** Undefined: never noted. */
  readonly readRetention: () => Promise<Retention | undefined>;
  readonly noteRetention: (retention: Retention) => Promise<void>;
  /** The payloads and salts of these records are in this file by now. */
  readonly archivePayloads: (removed: RemovedRecords & { readonly file: string; readonly by: string }) => Promise<void>;
  /** Drops dedupe keys with their results, and used tokens, that are too old to matter. */
  readonly forgetExpired: (nowMs: number) => Promise<void>;
}

/**
 * The log and the state beside it as they stood when it was opened, to be judged without the daemon. Nothing in it is
 * believed, and what the daemon writes meanwhile is not seen.
 */
export interface KeptLog extends LogSource {
  readonly size: number;
  readonly recordAt: (index: number) => StoredRecord | undefined;
  /** In the order of the log, the first 1000 of them. */
  readonly recordsOfCall: (callId: string) => readonly StoredRecord[];
  /** The record that says that the payload of this one was erased. Undefined: none does. */
  readonly erasureOf: (index: number) => StoredRecord | undefined;
  /** Absent: nothing is signed yet. */
  readonly lastCheckpoint: () => StoredCheckpoint | undefined;
  /** Nodes of the tree, for proofs. Verify a proof before it is handed out. */
  readonly readNode: NodeReader;
  /** As they are stored: sealed. */
  readonly listSecrets: () => readonly SealedSecret[];
  /** What in the state something other than the gate has changed, in words; empty: nothing. The key is base64 of 32 bytes. */
  readonly judgeState: (stateKey: string) => readonly string[];
  readonly close: () => void;
}
