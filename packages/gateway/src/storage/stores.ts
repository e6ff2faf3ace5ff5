import type { Json } from '@sallyport/contract';
import type { LogSource, RecordFacts, StoredCheckpoint, StoredRecord } from '@sallyport/log';
import type {
  ApprovalStatus,
  ApprovalTask,
  ConsentUse,
  Decision,
  NewApproval,
  NewPlan,
  Plan,
  PlanDecision,
  StandingApproval,
} from '../call/approval.ts';
import type { Door, KeptResult, Reservation } from '../call/call.ts';
import type { Redacted } from '../call/redacted.ts';
import type { Organisation, OrganisationChange } from '../call/organisation.ts';
import type { Budget, Lease, LeaseScope, Mode, Principal, Session, SpentBudget } from '../call/session.ts';

/** What becomes one leaf of the log. Everything a caller chose stands in `payload`, already redacted. */
export interface LogEntry extends RecordFacts {
  /** JSON, below 64 KB. */
  readonly payload: Redacted;
}

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

/** What a call adds to the spending of its session and lease, apart from being one call. */
export interface Charge {
  readonly sessionId: string;
  readonly leaseId: string;
  readonly activeMs: number;
  readonly tokens: number;
  readonly costMicros: number;
}

/** Misbehaviour of a session: how much, and when it is too much. */
export interface Misconduct {
  readonly sessionId: string;
  readonly weight: number;
  readonly limit: number;
  readonly windowMs: number;
}

export interface ToolUse {
  readonly tool: string;
  readonly lastMs: number;
}

/** The first success of a dedupe key, or the call that is still running with it. */
export interface DedupeEntry {
  readonly key: string;
  readonly argumentsSha256: string;
  readonly callId: string;
  /** `running` after a restart means that the outcome is unknown. */
  readonly state: 'running' | 'succeeded' | 'unknown';
  readonly output?: Json;
  /** Instead of an output that is too large to be kept here. */
  readonly kept?: KeptResult;
  readonly expiresAtMs: number;
}

export interface Admission {
  readonly sessionId: string;
  readonly leaseId: string;
  /** By its canonical name. */
  readonly tool: string;
  readonly intent: LogEntry & { readonly callId: string };
  readonly reservations: readonly Reservation[];
  /** What a person agreed to, used up together with the intent. Absent: no consent was needed. */
  readonly consent?: ConsentUse;
  /** Claims a dedupe key for this call. */
  readonly dedupe?: {
    readonly key: string;
    readonly argumentsSha256: string;
    readonly expiresAtMs: number;
    /** Takes over a key whose first call, with the same arguments, ended as unknown. */
    readonly isRepeatable?: boolean;
  };
}

export type Admitted =
  | { readonly admitted: true; readonly intentIndex: number }
  | { readonly admitted: false; readonly because: 'session' | 'lease' | 'dedupe' | 'consent' }
  | { readonly admitted: false; readonly because: 'budget'; readonly spent: SpentBudget }
  | { readonly admitted: false; readonly because: 'rate'; readonly rule: string; readonly retryAfterMs: number };

export interface Settlement {
  readonly outcome: LogEntry & { readonly callId: string };
  /** Absent: nothing ran that could be charged. */
  readonly charge?: Charge;
  /** The plan whose step this was. Absent: none. */
  readonly planId?: string;
  /** Absent: the session did nothing wrong. */
  readonly misconduct?: Misconduct;
  /** What becomes of the dedupe key: a success is kept for it, an unknown effect keeps it taken, all else frees it. */
  readonly dedupe?: {
    readonly sessionId: string;
    readonly key: string;
    readonly isUnknown?: boolean;
    readonly output?: Json;
    readonly kept?: KeptResult;
  };
}

export interface OpenIntent {
  readonly callId: string;
  readonly index: number;
  readonly sessionId: string;
  readonly timeMs: number;
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

/** What is known about content; the bytes lie in the content store. */
export interface ContentIndex {
  readonly recordContent: (grant: ContentGrant) => Promise<void>;
  readonly mayUseContent: (sessionId: string, hash: string) => boolean;
  readonly listContent: () => readonly KnownContent[];
  /** Drops what is known about unreferenced content, if anything. False when something references it. */
  readonly forgetContent: (hash: string) => Promise<boolean>;
  /** Publishing is final: an id that is taken stays what it was. */
  readonly publishArtifact: (artifact: Artifact) => Promise<'published' | 'exists'>;
  readonly findArtifact: (id: string) => Artifact | undefined;
  /** Newest first. Absent filters match all. */
  readonly listArtifacts: (filter: { readonly category?: string; readonly sessionId?: string }) => readonly Artifact[];
}

/** A secret as it is kept: encrypted with a key that is not in this store. */
export interface SealedSecret {
  readonly name: string;
  readonly ciphertext: Uint8Array;
  readonly updatedAtMs: number;
}

/** Secrets that people gave the gate. The store never sees a value. */
export interface SecretIndex {
  /** Replaces a secret of the same name. */
  readonly setSecret: (secret: SealedSecret) => Promise<void>;
  /** False when there is none of this name. */
  readonly removeSecret: (name: string) => Promise<boolean>;
  /** By name. */
  readonly listSecrets: () => readonly SealedSecret[];
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
export interface ToolPins {
  /** Replaces the pin of the same name and version. */
  readonly pinTool: (pin: ToolPin) => Promise<void>;
  /** False when there was none. */
  readonly unpinTool: (name: string, version: string) => Promise<boolean>;
  /** By name and version. */
  readonly listToolPins: () => readonly ToolPin[];
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
export interface ApprovalIndex {
  /** Opens a task, or joins the pending one with the same binding: another request id wants one more run. */
  readonly openApproval: (task: NewApproval) => Promise<ApprovalTask>;
  /** Undefined when the task is not pending any more, is too old, or shows another effect. */
  readonly decideApproval: (decision: Decision) => Promise<ApprovalTask | undefined>;
  /**
   * Ends tasks and plans that nobody decided in time, with a record of each in the log, in one commit; and marks whom to
   * remind. Each is returned once in each list. Of many, some at a time: what is left is still due.
   */
  readonly ageApprovals: (nowMs: number) => Promise<Aged>;
  readonly findApproval: (id: string) => ApprovalTask | undefined;
  /** The newest task of a session with this binding. */
  readonly findApprovalByBinding: (sessionId: string, binding: string) => ApprovalTask | undefined;
  /** Newest first. */
  readonly listApprovals: (filter: {
    readonly status?: ApprovalStatus;
    readonly sessionId?: string;
    readonly limit: number;
  }) => readonly ApprovalTask[];
  /** Pending tasks for which the rules name this agent, newest first. Whether it may decide is another question. */
  readonly listForAgent: (filter: { readonly approver: string; readonly limit: number }) => readonly ApprovalTask[];
  /** Tasks that ended, of sessions that are to be called back, have not ended, and were not told. The first ended first. */
  readonly listUntold: (filter: { readonly endedAfterMs: number; readonly limit: number }) => readonly ApprovalTask[];
  /** The caller has heard how the task ended. */
  readonly noteTold: (taskId: string, nowMs: number) => Promise<void>;
  /** When the next task is to be reminded of, or a task or plan expires. Undefined: none is pending. */
  readonly nextApprovalDeadlineMs: () => number | undefined;
  readonly proposePlan: (plan: NewPlan) => Promise<void>;
  /** Undefined when the plan is not pending any more, or too old. */
  readonly decidePlan: (decision: PlanDecision) => Promise<Plan | undefined>;
  readonly findPlan: (id: string) => Plan | undefined;
  /** Newest first. */
  readonly listPlans: (filter: PlanFilter) => readonly Plan[];
  /** Whether a token was used or revoked. One that may be used again is told by its claims. */
  readonly isTokenUsed: (tokenId: string) => boolean;
  /** No token of this id is taken any more. */
  readonly revokeToken: (tokenId: string, expiresAtMs: number) => Promise<void>;
  readonly grantStanding: (standing: StandingApproval) => Promise<void>;
  /** False when it was not in force. */
  readonly revokeStanding: (id: string, nowMs: number) => Promise<boolean>;
  /** In force, newest first. */
  readonly listStanding: (filter: {
    readonly sessionId?: string;
    readonly nowMs: number;
  }) => readonly StandingApproval[];
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
export interface ModeLog {
  readonly readMode: () => Mode;
  /**
   * One transaction: the mode, its history and a record in the log. False, and nothing changes, when the mode is not
   * `from` any more. Reads show the new mode from the moment the promise resolves.
   */
  readonly changeMode: (change: ModeChange) => Promise<boolean>;
  /** Newest first. */
  readonly listModeChanges: (limit: number) => readonly ModeChange[];
}

/** Who works here. Small, and read whole. */
export interface OrganisationIndex {
  /** As it is now; the same object until something changes. */
  readonly readOrganisation: () => Organisation;
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

/** Which folders sessions may work in, besides the daemon's own. Few, and read whole. */
export interface WorkspaceIndex {
  /** Replaces the one of the same path. */
  readonly putWorkspaceRoot: (root: WorkspaceRoot) => Promise<void>;
  /** False when there was none. */
  readonly removeWorkspaceRoot: (path: string) => Promise<boolean>;
  /** By path; the same object until something changes. */
  readonly listWorkspaceRoots: () => readonly WorkspaceRoot[];
}

/**
 * Everything the gate remembers. One daemon owns a store; all methods may be called concurrently.
 *
 * Durability: a promise resolves only after the change is on disk and survives kill -9 and power loss. Writes of
 * concurrent callers share commits. Order: the log keeps the order in which writes were accepted.
 *
 * Failure: a write that could not be made durable rejects, and so does every later one (`sealed`), because a log
 * with a hole proves nothing. Reads go on. When the cause is gone and what lies on disk was verified, writes go on too;
 * outcomes that could not be recorded meanwhile are recorded then.
 */
export interface Store
  extends ContentIndex, SecretIndex, ToolPins, ApprovalIndex, ModeLog, OrganisationIndex, WorkspaceIndex {
  /** One transaction: the session is active, budget and limits have room and are charged, the intent is written. */
  readonly admit: (admission: Admission) => Promise<Admitted>;
  /** Writes the outcome and closes the intent. Rejects when no such intent is open. */
  readonly settle: (settlement: Settlement) => Promise<{ readonly index: number }>;
  /** Writes a record that needs no intent: a refusal or an event. */
  readonly append: (entry: LogEntry, misconduct?: Misconduct) => Promise<{ readonly index: number }>;

  readonly createSession: (session: NewSession) => Promise<void>;
  /** False when the session does not exist or has ended before. Ending is final. */
  readonly endSession: (id: string) => Promise<boolean>;
  /** Ends the present lease for good and puts another in its place. False when the session is not active. */
  readonly grantLease: (sessionId: string, lease: NewLease, nowMs: number) => Promise<boolean>;
  /** False when no lease is in force. */
  readonly revokeLease: (sessionId: string, nowMs: number) => Promise<boolean>;

  // Point reads. They see every write whose promise has resolved.
  readonly findSessionByToken: (tokenSha256: string) => Session | undefined;
  /** With its spending as it is now; the other reads may show an older one. */
  readonly findSession: (id: string) => Session | undefined;
  /** Whether the session and its lease may be used now, for the last look before an effect. */
  readonly findStanding: (id: string) => Session | undefined;
  readonly listSessions: () => readonly Session[];
  /** All leases of a session, oldest first. */
  readonly listLeases: (sessionId: string) => readonly Lease[];
  readonly findDedupe: (sessionId: string, key: string, nowMs: number) => DedupeEntry | undefined;
  /** How much of a window is used, and when it ends. Advice: only `admit` decides. */
  readonly usedOf: (reservation: Reservation, nowMs: number) => { readonly used: number; readonly resetsInMs: number };

  /** Intents without outcome, oldest first. After a start these are the calls that a crash cut off. */
  readonly listOpenIntents: () => readonly OpenIntent[];
  readonly logSize: () => number;
  readonly readRecords: (fromIndex: number, limit: number) => readonly StoredRecord[];
  readonly lastCheckpoint: () => StoredCheckpoint | undefined;

  /** Why nothing can be written any more. Absent while all is well. */
  readonly sealed: () => string | undefined;
  /** Called whenever the store seals itself. */
  readonly onSealed: (listener: (reason: string) => void) => void;
  /** Called when writes go on after a seal, with what had been the reason. */
  readonly onHealed: (listener: (reason: string) => void) => void;
  /** How often rules were applied, as last noted: tells an older copy of them from the newest. 0: never noted. */
  readonly readRulesSequence: () => number;
  readonly noteRulesSequence: (sequence: number) => Promise<void>;
  /** Tools that a session has used, and when last, before and after a restart. */
  readonly listToolUses: (sessionId: string) => readonly ToolUse[];
  /** The records of one call, in the order of the log, at most 1000. */
  readonly readRecordsOfCall: (callId: string) => readonly StoredRecord[];
  /** Reads all of log and state in the background, and seals the store when something else changed them. */
  readonly verifyInBackground: () => void;
  /** Signs what is not yet signed and closes. Writes after this reject. */
  readonly close: () => Promise<void>;
}

/**
 * The log and the state beside it as they stood when it was opened, to be judged without the daemon. Nothing in it is
 * believed, and what the daemon writes meanwhile is not seen.
 */
export interface KeptLog extends LogSource {
  readonly size: number;
  /** What in the state something other than the gate has changed, in words; empty: nothing. The key is base64 of 32 bytes. */
  readonly judgeState: (stateKey: string) => readonly string[];
  readonly close: () => void;
}
