import { closeSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../has-code.ts';
import { ProgramNotStarted } from '../program.ts';
import type { ProgramLimits } from '../program.ts';
import type { Launch } from '../launch/launch.ts';
import { closeAll, openDescriptors } from './child-descriptors.ts';
import type { ChildDescriptors, OpeningParts, ShownFile } from './child-descriptors.ts';
import type { ChildStarter, ProcessEnd, StartedProcess } from './child-starter.ts';
import { StatusReader } from './status-reader.ts';
import type { SandboxedChild } from './status-reader.ts';

const buildingGraceMs = 1000;

/** Here `not-executed` also says that the sandbox was there, but the program in it did not start. */
export type ChildEnd = ProcessEnd;

export interface StartingParts extends OpeningParts {
  readonly starter: ChildStarter;
}

/** A started process that waits to be released. Its starter takes over the descriptors. */
export interface StartedChild {
  /** Absent: it has its input. */
  readonly stdin?: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly shown: readonly ShownFile[];
  /** The process that waits. Undefined when there is none, because the sandbox could not be built. */
  readonly waiting: Promise<SandboxedChild | undefined>;
  /** The program has ended. What is left of the sandbox, and of what the program started, may still be there. */
  readonly finished: Promise<unknown>;
  readonly ended: Promise<ChildEnd>;
  readonly release: () => void;
  /** Kills the started process, and everything in its sandbox if that is built. */
  readonly kill: () => void;
  /**
   * Kills it when nothing can be left: a sandbox that is killed while it is being built leaves its processes behind.
   * Resolves when it has ended. Safe at any time.
   */
  readonly end: () => Promise<void>;
}

/** Failure: throws ProgramNotStarted; then nothing is running or open. */
export async function startChild(
  launch: Launch,
  options: {
    readonly workingDirectory: string;
    readonly stdin: Uint8Array | 'later' | 'held';
    readonly limits: ProgramLimits;
    /** As in `StartOptions`. */
    readonly seat?: number | undefined;
  },
  parts: StartingParts,
): Promise<StartedChild> {
  const { stdin, ...others } = options;
  const { theirs, ...rest } = await openDescriptors(launch, stdin, parts);
  try {
    const child = await parts.starter.start(launch, { ...others, descriptors: theirs });
    return attend(child, rest);
  } catch (cause) {
    closeAll(Object.values(rest.ours) as number[]);
    if (cause instanceof ProgramNotStarted) throw cause;
    throw new ProgramNotStarted('EXECUTION_ERROR', 'The program could not be started.', { cause, isTransient: true });
  } finally {
    closeAll(theirs);
  }
}

function attend(child: StartedProcess, { ours, shown }: Omit<ChildDescriptors, 'theirs'>): StartedChild {
  const { stdin, stdout, stderr, release } = ours;
  const status = ours.status === undefined ? undefined : new StatusReader(ours.status);
  const waiting = status?.child ?? Promise.resolve({ pid: child.pid });
  let hasExited = false;
  const ended = child.ended.then((end): ChildEnd | Promise<ChildEnd> => {
    hasExited = true;
    if (release !== undefined) closeSync(release);
    return status === undefined ? end : describeEnd(end, status);
  });
  return {
    ...(stdin !== undefined && { stdin }),
    stdout,
    stderr,
    shown,
    waiting,
    finished: status === undefined ? ended : Promise.race([status.exitCode, ended]),
    ended,
    release: () => {
      if (hasExited || release === undefined) return;
      try {
        // Any byte releases a sandbox; the shell that holds other programs waits for a whole line.
        writeSync(release, '\n');
      } catch (error) {
        // It died while it was built. Its end will be reported, and must not affect other programs.
        if (!hasCode(error, 'EPIPE')) throw error;
      }
    },
    kill: () => child.kill(),
    end: async () => {
      if (!hasExited) {
        const inside = await Promise.race([waiting, sleep(buildingGraceMs, undefined, { ref: false })]);
        child.kill();
        if (inside !== undefined && !hasExited) tryKill(inside.pid);
      }
      await ended;
    },
  };
}

/** After a sandbox has reported the end of its program, its own end may be part of the clean-up. */
async function describeEnd(end: ProcessEnd, status: StatusReader): Promise<ChildEnd> {
  const said = await status.exitCode;
  if (said !== undefined) return { kind: 'exited', code: said };
  return end.kind === 'exited' ? { kind: 'not-executed' } : end;
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
