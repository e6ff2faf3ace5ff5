import type { Anomaly, AnomalyKind, AnomalyResponse, NewAnomaly } from '../../call/anomaly.ts';
import type { Misconduct } from '../ledger.ts';

/** The parts of an anomaly that change while it goes on. */
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
  /** Only those about which nobody was notified. */
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
  /** Notes the progress of anomalies that go on. */
  readonly continueAnomalies: (progress: readonly AnomalyProgress[]) => Promise<void>;
  /** People were notified about it. */
  readonly noteAnomalyTold: (id: string, nowMs: number) => Promise<void>;
  /** Undefined: there is none with this id. The first person who saw it stays on record. */
  readonly acknowledgeAnomaly: (id: string, by: string, nowMs: number) => Promise<Anomaly | undefined>;
  readonly findAnomaly: (id: string) => Promise<Anomaly | undefined>;
  /** Those that began last come first. */
  readonly listAnomalies: (filter: AnomalyFilter) => Promise<readonly Anomaly[]>;
}
