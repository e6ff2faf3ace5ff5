import { redactEnd } from '../../call/redacted.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import type { ProgramOutput } from '../../programs/run/run-program.ts';

/** So much of what a program says is kept: far more than is shown, so that no secret is cut before it is recognised. */
export const mostHeard = 600 * 1024;
const mostComplaint = 500;

export function hasSucceeded({ how }: ProgramOutput): boolean {
  return how.kind === 'exited' && how.code === 0;
}

/** `complaint`: what the program wrote to standard error. */
export function failureOfProgram(
  what: string,
  complaint: string,
  { redact }: Pick<ToolContext, 'redact'>,
): ToolFailure {
  const why = redactEnd(complaint.trim(), mostComplaint, redact);
  return new ToolFailure('EXECUTION_ERROR', why === '' ? `${what}.` : `${what}: ${why}`);
}
