import type { Refusal } from './refusal.ts';
import type { Mode, Session } from './session.ts';

/** Judges what programs leave behind, which no sandbox can forbid in a folder that may be changed. */
export interface LeavingsJudge {
  /** Whose programs it judges, so that another one can be made later. */
  readonly caller: SweepCaller;
  /**
   * Why a program that may change `root` must not leave something at `path`; undefined when it may. `isForeseen`: it is
   * known beforehand what the program will leave, so that a consent to the call is a consent to that.
   */
  readonly judge: (path: string, root: string, how?: { readonly isForeseen?: boolean }) => Refusal | undefined;
}

/** Remembers which programs may have left something behind, beyond the death of the daemon. */
export interface SweepBook {
  /** Resolves when nothing is being set aside in these folders, and for programs that stay, when they are not cleared. */
  readonly settle: (folders: readonly string[], how?: { readonly isStaying: boolean }) => Promise<void>;
  /**
   * Resolves when no program that stays may change these folders; none comes until it is disposed of. Throws ToolRefused
   * when the signal aborts first.
   */
  readonly clear: (folders: readonly string[], signal: AbortSignal) => Promise<Disposable>;
  /** Grows with everything that is set aside. */
  readonly position: () => number;
  /**
   * The note is durable when it resolves; only then may the programs start. What was set aside or written by the gate
   * since `position` is not known to it. Throws ToolFailure.
   */
  readonly enter: (note: SweepNote, position: number, watch?: SweepWatch) => Promise<SweepEntry>;
  /**
   * The gate itself put this there for a call, or took away what was there. To be called in the same turn as the change,
   * so that no sweep comes in between. It is durable when the promise resolves.
   */
  readonly noteWritten: (path: string, made: Vouched | undefined) => Promise<void>;
  /**
   * A program will start that may change some folders, and must not change or not see some paths. Those that cannot run
   * beside it, because one could exchange what is closed to the other, are outdated.
   */
  readonly noteStart: (program: { readonly writes: readonly string[]; readonly closed: readonly string[] }) => void;
}

export interface SweepWatch {
  /** Whether the programs must not leave something at this path. Absent: they may leave anything. */
  readonly isForbidden?: (path: string, root: string) => boolean;
  /**
   * The programs see the folders otherwise than one that starts now, or others wait for them. Absent: they do not stay,
   * but end soon.
   */
  readonly onOutdated?: () => void;
}

/**
 * What the gate made where programs run that could change it. A file counts as long as it is this file with this content,
 * and a folder as far as what is in it counts.
 */
export type Vouched =
  | { readonly kind: 'folder' }
  /** `identity` as `identifyMade` says it. */
  | { readonly kind: 'file'; readonly identity: string; readonly sha256: string };

/** What the code that sets aside files of programs must know. */
export interface SweepNote {
  /** Folders that the programs may change. Absolute, without links. */
  readonly roots: readonly string[];
  /** Paths in them that were there before and that the programs cannot change, or that are not to be looked at. */
  readonly known: readonly string[];
  /** What the gate itself made in them since. Absent: nothing. */
  readonly vouched?: Readonly<Record<string, Vouched>>;
  /** Links that were there before, and where they lead. */
  readonly links: Readonly<Record<string, string>>;
  readonly caller: SweepCaller;
  /** As in `LeavingsJudge`. */
  readonly isForeseen: boolean;
  /** The programs ended before this, and the sweep was not finished then. Absent: they may run as long as their daemon. */
  readonly endedByMs?: number;
}

/** For whom programs run. A server that serves many has an agent without a name. */
export type SweepCaller = Pick<Session, 'principal' | 'agent'> & {
  readonly mode: Mode;
  /** Whether a person agreed to the call. */
  readonly consented: boolean;
  /** Where it worked. Absent: in the daemon's own workspace, as servers do. */
  readonly workspace?: string;
};

export interface SweepEntry {
  readonly knows: (path: string) => boolean;
  /** Changes while the gate writes. */
  readonly vouched: ReadonlyMap<string, Vouched>;
  /** What was at this path is elsewhere: whatever comes there from now on is new, for every other entry too. */
  readonly tellMoved: (path: string) => Promise<void>;
  /** Says that things are being set aside until the promise settles. */
  readonly during: (sweeping: Promise<unknown>) => void;
  /** The programs have ended. `unfinished`: the next start of the daemon tries again. */
  readonly leave: (how: 'finished' | 'unfinished') => Promise<void>;
}
