import { spawn } from 'node:child_process';
import type { ProgramLimits } from '../program.ts';
import type { Launch } from '../launch/launch.ts';
import { limitResources } from '../limits/limit-resources.ts';

export interface StartOptions {
  readonly workingDirectory: string;
  readonly limits: ProgramLimits;
  /** By the number that the child sees. They stay the caller's, to be closed when the start has settled. */
  readonly descriptors: readonly number[];
  /** A process that was forked ahead, and becomes this one. Absent: a new one. */
  readonly seat?: number | undefined;
}

/** `not-executed`: there was a process, but it could not become what it was to be. */
export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not-executed' };

export interface StartedProcess {
  readonly pid: number;
  readonly ended: Promise<ProcessEnd>;
  /** Safe at any time. */
  readonly kill: () => void;
}

/**
 * Starts processes under the limits that the kernel keeps for each, in a session of their own, out of reach of the
 * terminal. They are killed when this process is, if they asked the kernel for that.
 */
export interface ChildStarter {
  /** Rejects when nothing was started; then it may be tried again. */
  readonly start: (launch: Launch, options: StartOptions) => Promise<StartedProcess>;
  /** Helps large killed processes to end sooner. Absent: not possible. */
  readonly freeMemoryOf?: (killed: readonly number[]) => void;
  /** Resolves when the next process of any program has ended. Absent: not known. */
  readonly nextEnd?: () => Promise<void>;
}

/** Forks this process, which takes milliseconds for each child. For machines without the helper. */
export const ownChildStarter: ChildStarter = {
  start: async (plan, { workingDirectory, limits, descriptors }) => {
    const launch = limitResources(plan, limits);
    const child = spawn(launch.file, launch.args, {
      cwd: workingDirectory,
      env: launch.environment,
      stdio: [...descriptors],
      detached: true,
      ...launch.user,
    });
    const failed = new Promise<Error>((resolve) => child.once('error', resolve));
    const { pid } = child;
    if (pid === undefined) throw await failed;
    const ended = new Promise<ProcessEnd>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'killed', signal }),
      );
    });
    return { pid, ended, kill: () => void child.kill('SIGKILL') };
  },
};
