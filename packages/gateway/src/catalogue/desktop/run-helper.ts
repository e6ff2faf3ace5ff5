import { defaultProgramLimits } from '@sallyport/sandbox';
import type { Program } from '@sallyport/sandbox';
import { redactEnd } from '../../call/redacted.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { runProgram } from '../../programs/run/run-program.ts';
import type { ProgramOutput } from '../../programs/run/run-program.ts';

/** A program of the desktop that the gate itself chose, with words of its own: callers give it text on stdin alone. */
export interface Helper {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
}

const mostComplaint = 500;

/**
 * It runs outside the sandbox, because the sockets of the desktop belong to the user of the daemon. Nothing that a caller
 * says reaches its command line as more than one plain argument.
 */
export function helperProgram({ argv, environment, stdin = new Uint8Array() }: Helper): Program {
  return {
    ...{ argv, environment, stdin, workingDirectory: '/', mounts: [], hosts: [] },
    limits: defaultProgramLimits,
    isolation: 'none',
  };
}

export function runHelper(helper: Helper, context: ToolContext, inlineBytes = 64 * 1024): Promise<ProgramOutput> {
  return runProgram(helperProgram(helper), context, { inlineBytes, isLooking: true });
}

export function hasSucceeded({ how }: ProgramOutput): boolean {
  return how.kind === 'exited' && how.code === 0;
}

/** What it wrote to standard error. */
export function failureOf(what: string, complaint: string, { redact }: Pick<ToolContext, 'redact'>): ToolFailure {
  const why = redactEnd(complaint.trim(), mostComplaint, redact);
  return new ToolFailure('EXECUTION_ERROR', why === '' ? `${what}.` : `${what}: ${why}`);
}
