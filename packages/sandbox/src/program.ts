import type { NetworkEvent } from './network-log.ts';

export type Access = 'read' | 'write';

/** A program to be run once, and everything it may see and use. It gets nothing else. */
export interface Program {
  /** The first is the file, absolute, as the program sees it. */
  readonly argv: readonly [string, ...string[]];
  /** All of it: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute, as the program sees it. */
  readonly workingDirectory: string;
  readonly stdin: Uint8Array;
  readonly mounts: readonly Mount[];
  /** As in `Grants.hosts`. Empty: no network at all. */
  readonly hosts: readonly string[];
  /** As in `Grants`. Absent: no unix socket but streams in pairs. */
  readonly unixSockets?: boolean;
  readonly limits: ProgramLimits;
  /**
   * It may end with an answer: SALLYPORT_ANSWER in its environment is a sign that it puts before its output, with the
   * length of it, and when all of it is there, everything that is left of the program is killed. Only in a sandbox
   * without hosts, unix sockets and writable folders; elsewhere it is not told. Absent: it ends by itself.
   */
  readonly mayAnswer?: boolean;
  /** `none`: an ordinary child process with a clean environment. Only where a rule says so. */
  readonly isolation: 'sandbox' | 'none';
}

/** A file or folder of the machine that the program sees. */
export interface Mount {
  /** Absolute, canonical, not a link. What is there when the program starts is what it gets. */
  readonly source: string;
  /** Where the program sees it. */
  readonly target: string;
  readonly access: Access;
  /** Paths below `source` that the program sees as empty, because the rules forbid them. Absent: none. */
  readonly hidden?: readonly string[];
  /** What it sees instead of nothing at some of the hidden files, by their paths. Absent: nothing anywhere. */
  readonly standIns?: Readonly<Record<string, string>>;
  /** Paths below a writable `source` that the program can only read. Absent: none. */
  readonly frozen?: readonly string[];
}

export interface ProgramLimits {
  /** Of all its processes together. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly processes: number;
  readonly openFiles: number;
  /** Largest file it may write. */
  readonly fileBytes: number;
  /** Of all that it writes into folders of the machine; deleting gives nothing back. */
  readonly diskBytes: number;
  /** Of stdout and stderr together; more ends the program. */
  readonly outputBytes: number;
}

export const defaultProgramLimits: ProgramLimits = {
  cpuMs: 60_000,
  memoryBytes: 1024 * 1024 * 1024,
  processes: 64,
  openFiles: 256,
  fileBytes: 1024 * 1024 * 1024,
  diskBytes: 4 * 1024 * 1024 * 1024,
  outputBytes: 32 * 1024 * 1024,
};

export const programLimitNames = [
  'cpuMs',
  'memoryBytes',
  'processes',
  'openFiles',
  'fileBytes',
  'diskBytes',
  'outputBytes',
] as const satisfies readonly (keyof ProgramLimits)[];

/** How processor time and memory were measured; `sampled` is close, the others are exact. */
export type MeasuredBy = 'cgroup' | 'rusage' | 'sampled';

/** What a program used. Absent: not measured. */
export interface ProgramUsage {
  readonly measuredBy?: MeasuredBy;
  readonly cpuMs?: number;
  readonly peakMemoryBytes?: number;
  readonly networkConnections?: number;
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
}

/** How a program ended. Every process it started is gone by then. */
export interface ProgramEnd {
  readonly how:
    | { readonly kind: 'exited'; readonly code: number }
    | { readonly kind: 'killed'; readonly signal: string }
    | { readonly kind: 'limit'; readonly limit: keyof ProgramLimits }
    /** It answered, and was ended. Its output is the answer. */
    | { readonly kind: 'answered' }
    /** It began to answer, and what it wrote is not one answer. */
    | { readonly kind: 'misanswered' }
    /** It wrote to a disk that had hardly any space or file entries left. */
    | { readonly kind: 'disk-nearly-full' }
    /** The signal of the caller aborted. */
    | { readonly kind: 'aborted' };
  readonly usage: ProgramUsage;
}

export interface RunOptions {
  /** Ends the program and all its processes. */
  readonly signal: AbortSignal;
  /**
   * In order. While the promise of one chunk is open, at most a few hundred kilobytes more are taken from the program.
   */
  readonly onStdout: (chunk: Uint8Array) => Promise<void> | undefined | void;
  readonly onStderr: (chunk: Uint8Array) => void | Promise<void>;
  /**
   * Called soon with the outcome of each connection that the program requested, and with all of them before the run
   * settles. Must not throw. Absent: not reported.
   */
  readonly onNetwork?: (events: readonly NetworkEvent[]) => void;
  /**
   * Lets a program that was started ahead, and waits for its input, serve the run. Stands for everything that decided
   * what the program may do. Absent: a fresh one.
   */
  readonly warmKey?: string;
  /**
   * Lets a sandbox that was built ahead for this very program, in which nothing has run, serve the run. Stands for the
   * same. Absent: a fresh one.
   */
  readonly preparedKey?: string;
}

/**
 * Runs programs outside the daemon.
 *
 * Failure: rejects with ProgramNotStarted when it is certain that nothing of the program ran, and with
 * ProgramLost when the spawner ended meanwhile. Everything else that goes wrong is an ending.
 */
export interface ProgramRunner {
  readonly run: (program: Program, options: RunOptions) => Promise<ProgramEnd>;
}

/** A program that goes on until it ends by itself or is killed, and is written to meanwhile. */
export interface OpenProgram {
  /** Resolves when it can be written to; never, when it does not start. */
  readonly started: Promise<void>;
  /** Settles as the promise of ProgramRunner.run. */
  readonly ended: Promise<ProgramEnd>;
  /** What is written before the program started or after it ended is lost. A program that does not read is ended. */
  readonly write: (bytes: Uint8Array) => void;
  /** What its processes have used since they started. Empty: it cannot be measured, or the program has ended. */
  readonly measure: () => Promise<Pick<ProgramUsage, 'measuredBy' | 'cpuMs'>>;
  readonly kill: () => void;
}

/** Opens programs outside the daemon that serve many calls. `stdin` of the program is not used. */
export interface ProgramOpener {
  readonly open: (program: Program, options: RunOptions) => OpenProgram;
}

/** The spawner ended while the program ran, and the program with it. What it had done by then is not known. */
export class ProgramLost extends Error {
  readonly code = 'EXECUTOR_LOST';

  constructor() {
    super('The spawner ended while the program ran.');
    this.name = 'ProgramLost';
  }
}

export const notStartedCodes = [
  'SANDBOX_UNAVAILABLE',
  'LIMIT_UNENFORCEABLE',
  'TOOL_MISSING',
  'FOLDER_BUSY',
  'EXECUTION_ERROR',
] as const;

/** The program did not start, so that trying again is safe if `isTransient`. */
export class ProgramNotStarted extends Error {
  readonly code: (typeof notStartedCodes)[number];
  readonly isTransient: boolean;
  /** What a person can do about it. Absent: nothing known. */
  readonly remedy: string | undefined;

  constructor(
    code: ProgramNotStarted['code'],
    message: string,
    options: ErrorOptions & { readonly isTransient?: boolean; readonly remedy?: string } = {},
  ) {
    super(message, options);
    this.name = 'ProgramNotStarted';
    this.code = code;
    this.isTransient = options.isTransient ?? false;
    this.remedy = options.remedy;
  }
}
