import { defaultProgramLimits, runtimeFolder } from '@sallyport/sandbox';
import type { ToolContext } from '../../call/tool.ts';
import { viewFor } from '../../programs/run/mounts-for.ts';
import { runProgram } from '../../programs/run/run-program.ts';
import type { ProgramOutput } from '../../programs/run/run-program.ts';
import { withDeadline } from '../shell/with-deadline.ts';

export interface ReadOnlyProgram {
  readonly argv: readonly [string, ...string[]];
  /** What it sees of the machine: absolute, and never to be changed. */
  readonly folders: readonly string[];
  readonly workingDirectory: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly outputBytes: number;
  readonly timeoutMs: number;
}

/** How a program ended, and how many files the rules hid from it. */
export interface ReadOnlyRun {
  readonly output: ProgramOutput;
  readonly hidden: number;
}

/** Runs a program in the sandbox, without network, on folders that it can look at and not change. */
export function runReadOnly(program: ReadOnlyProgram, context: ToolContext): Promise<ReadOnlyRun> {
  const { argv, folders, workingDirectory, environment = {}, outputBytes, timeoutMs } = program;
  return withDeadline(timeoutMs, context, async (timed) => {
    const { mounts } = await viewFor(timed, { folders: folders.map((path) => ({ path, access: 'read' })) });
    const confined = {
      argv,
      environment: { PATH: `${runtimeFolder}/bin:/usr/bin:/bin`, HOME: '/tmp', LANG: 'C.UTF-8', ...environment },
      workingDirectory,
      stdin: new Uint8Array(),
      mounts,
      hosts: [],
      limits: { ...defaultProgramLimits, ...context.grants.limits, outputBytes },
      isolation: 'sandbox' as const,
    };
    const output = await runProgram(confined, timed, { inlineBytes: outputBytes, isLooking: true });
    return { output, hidden: mounts.reduce((sum, { hidden = [] }) => sum + hidden.length, 0) };
  });
}
