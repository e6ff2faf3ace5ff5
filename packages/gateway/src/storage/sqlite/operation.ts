import type { AnomalyResponse, NewAnomaly } from '../../call/anomaly.ts';
import type { Decision, NewApproval, NewPlan, PlanDecision, StandingApproval } from '../../call/approval.ts';
import type { EntryState } from '../../call/journal.ts';
import type { OrganisationChange } from '../../call/organisation.ts';
import type {
  Admission,
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
import type { Touched } from './state/state-versions.ts';

/** The writes that the main thread can request. */
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
  /** `touched`: which parts of the snapshot it changed, and the version after that. Absent: none. */
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly touched?: { readonly version: number; readonly what: readonly Touched[] };
    }
  | { readonly ok: false; readonly error: string; readonly sealed: boolean };
