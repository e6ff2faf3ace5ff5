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
  /** Resolves when nothing is being set aside in these folders. */
  readonly settle: (folders: readonly string[]) => Promise<void>;
  /** Grows with everything that is set aside. */
  readonly position: () => number;
  /**
   * The note is durable when it resolves; only then may the programs start. What was set aside since `position` is not
   * known to it. Throws ToolFailure.
   */
  readonly enter: (note: SweepNote, position: number) => Promise<SweepEntry>;
}

/** What the code that sets aside files of programs must know. */
export interface SweepNote {
  /** Folders that the programs may change. Absolute, without links. */
  readonly roots: readonly string[];
  /** Paths in them that were there before and that the programs cannot change, or that are not to be looked at. */
  readonly known: readonly string[];
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
  /** What was at this path is elsewhere: whatever comes there from now on is new, for every other entry too. */
  readonly tellMoved: (path: string) => Promise<void>;
  /** Says that things are being set aside until the promise settles. */
  readonly during: (sweeping: Promise<unknown>) => void;
  /** The programs have ended. `unfinished`: the next start of the daemon tries again. */
  readonly leave: (how: 'finished' | 'unfinished') => Promise<void>;
}
