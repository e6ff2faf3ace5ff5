import { spawn } from 'node:child_process';
import { hasCode } from '../has-code.ts';
import type { ChildProcess } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramNotStarted } from '../program.ts';
import type { Launch } from '../launch/launch.ts';
import { closeAll, openDescriptors } from './child-descriptors.ts';
import type { OpeningParts, OurEnds } from './child-descriptors.ts';
import { StatusReader } from './status-reader.ts';
import type { SandboxedChild } from './status-reader.ts';

const buildingGraceMs = 1000;

/** How the started process ended. `not-executed`: the sandbox was there, but the program in it did not start. */
export type ChildEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not-executed' };

/** A started process that waits to be released. Whoever starts it takes over the descriptors. */
export interface StartedChild {
  /** Absent: it has its input. */
  readonly stdin?: number;
  readonly stdout: number;
  readonly stderr: number;
  /** The process that waits. Undefined when there is none, because the sandbox could not be built. */
  readonly waiting: Promise<SandboxedChild | undefined>;
  readonly ended: Promise<ChildEnd>;
  readonly release: () => void;
  /** Kills the started process, and with a sandbox that stands all that is in it. */
  readonly kill: () => void;
  /**
   * Kills it when it can be killed whole: a sandbox that is killed while it is being built leaves its inside behind.
   * Resolves when it has ended. Safe at any time.
   */
  readonly end: () => Promise<void>;
}

/** Failure: throws ProgramNotStarted; then nothing is running or open. */
export async function startChild(
  launch: Launch,
  { workingDirectory, stdin }: { readonly workingDirectory: string; readonly stdin: Uint8Array | 'later' },
  parts: OpeningParts,
): Promise<StartedChild> {
  const { theirs, ours } = await openDescriptors(launch, stdin, parts);
  let child: ChildProcess;
  try {
    child = await spawnWith(launch, workingDirectory, theirs);
  } catch (cause) {
    closeAll(Object.values(ours) as number[]);
    throw new ProgramNotStarted('EXECUTION_ERROR', 'The program could not be started.', { cause, isTransient: true });
  } finally {
    closeAll(theirs);
  }
  return attend(child, ours);
}

async function spawnWith(launch: Launch, workingDirectory: string, theirs: readonly number[]): Promise<ChildProcess> {
  const child = spawn(launch.file, launch.args, {
    cwd: workingDirectory,
    env: launch.environment,
    stdio: [...theirs],
    // A session of its own, out of reach of the terminal.
    detached: true,
    ...launch.user,
  });
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  if (child.pid === undefined) throw await failed;
  return child;
}

function attend(child: ChildProcess, ours: OurEnds): StartedChild {
  const { stdin, stdout, stderr, release } = ours;
  const status = ours.status === undefined ? undefined : new StatusReader(ours.status);
  const waiting = status?.child ?? Promise.resolve({ pid: child.pid as number });
  const { promise: ended, resolve } = Promise.withResolvers<ChildEnd>();
  let hasExited = false;
  child.once('exit', (code, signal) => {
    hasExited = true;
    if (release !== undefined) closeSync(release);
    resolve(signal === null ? describeExit(code ?? 0, status) : { kind: 'killed', signal });
  });
  return {
    ...(stdin !== undefined && { stdin }),
    stdout,
    stderr,
    waiting,
    ended,
    release: () => {
      if (hasExited || release === undefined) return;
      try {
        // Any byte releases a sandbox; the shell that holds other programs waits for a whole line.
        writeSync(release, '\n');
      } catch (error) {
        // It died while it was built, and how it ended will be told; nobody else may suffer for it.
        if (!hasCode(error, 'EPIPE')) throw error;
      }
    },
    kill: () => void child.kill('SIGKILL'),
    end: async () => {
      if (!hasExited) {
        const inside = await Promise.race([waiting, sleep(buildingGraceMs, undefined, { ref: false })]);
        child.kill('SIGKILL');
        if (inside !== undefined && !hasExited) tryKill(inside.pid);
      }
      await ended;
    },
  };
}

async function describeExit(code: number, status: StatusReader | undefined): Promise<ChildEnd> {
  if (status === undefined) return { kind: 'exited', code };
  const said = await status.exitCode;
  return said === undefined ? { kind: 'not-executed' } : { kind: 'exited', code: said };
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
