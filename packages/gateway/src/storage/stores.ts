import type { Ledger } from './ledger.ts';
import type * as repositories from './repositories.ts';
import type { Snapshot } from './snapshot.ts';

export type * from './ledger.ts';
export type * from './repositories.ts';
export type * from './snapshot.ts';

/** Everything the gate stores, in its roles. Depend only on the part that you need. */
export interface Store
  extends
    Ledger,
    Snapshot,
    repositories.SessionRepository,
    repositories.CallMemory,
    repositories.RecordRepository,
    repositories.ContentRepository,
    repositories.SecretRepository,
    repositories.ToolPinRepository,
    repositories.ApprovalRepository,
    repositories.ModeRepository,
    repositories.AnomalyRepository,
    repositories.OrganisationRepository,
    repositories.WorkspaceRepository,
    repositories.RulesRepository,
    repositories.JournalRepository,
    repositories.ErasureRepository {}
