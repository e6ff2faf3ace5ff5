import type { OrganisationChange } from '../../call/organisation.ts';
import type { Redacted } from '../../call/redacted.ts';
import type { Mode } from '../../call/session.ts';

/** One change of the mode: who or what made it, and why. */
export interface ModeChange {
  readonly from: Mode;
  readonly to: Mode;
  /** The person. Absent: the gate did it by itself. */
  readonly by?: string;
  readonly cause: Redacted;
  readonly atMs: number;
}

/** The mode and its history. */
export interface ModeRepository {
  /**
   * One transaction: the mode, its history and a record in the log. False, and nothing changes, when the mode is not
   * `from` any more. Reads show the new mode from the moment the promise resolves.
   */
  readonly changeMode: (change: ModeChange) => Promise<boolean>;
  /** Newest first. */
  readonly listModeChanges: (limit: number) => Promise<readonly ModeChange[]>;
}

/** Who works here. */
export interface OrganisationRepository {
  /** False when there was nothing to remove. */
  readonly changeOrganisation: (change: OrganisationChange) => Promise<boolean>;
}

export interface RulesRepository {
  /** How often rules were applied, as last noted: shows whether a copy of them is the newest. 0: never noted. */
  readonly readRulesSequence: () => Promise<number>;
  readonly noteRulesSequence: (sequence: number) => Promise<void>;
}
