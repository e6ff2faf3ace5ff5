import { exitCodes } from '@sallyport/contract/codes';

/** Ends the command. The message is for the person at the terminal; the remedy says what to do next. */
export class CommandFailure extends Error {
  readonly code: string;
  readonly exitCode: number;
  readonly remedy: string | undefined;

  constructor(code: string, exitCode: number, message: string, options?: ErrorOptions & { readonly remedy?: string }) {
    super(message, options);
    this.name = 'CommandFailure';
    this.code = code;
    this.exitCode = exitCode;
    this.remedy = options?.remedy;
  }
}

export function usageFailure(message: string, remedy?: string): CommandFailure {
  return new CommandFailure('USAGE', exitCodes.usage, message, remedy === undefined ? {} : { remedy });
}

/** The daemon did not take the request; `connectCode` is the reason in the words of Connect. */
export class RpcFailure extends CommandFailure {
  readonly connectCode: string;

  constructor(connectCode: string, message: string) {
    super(connectCode.toUpperCase(), exitCodeOf(connectCode), message);
    this.connectCode = connectCode;
  }
}

function exitCodeOf(connectCode: string): number {
  if (connectCode === 'invalid_argument') return exitCodes.usage;
  if (connectCode === 'unavailable') return exitCodes.unreachable;
  const refusals = ['unauthenticated', 'permission_denied', 'not_found', 'failed_precondition', 'resource_exhausted'];
  return refusals.includes(connectCode) ? exitCodes.denied : exitCodes.toolError;
}

/** What a shell reports for a program that Ctrl-C ended. */
export const exitCodeInterrupted = 130;

/** The person at the terminal wanted it so: nothing went wrong. */
export class StoppedByPerson extends CommandFailure {}

export function interrupted(): CommandFailure {
  return new StoppedByPerson('CANCELLED', exitCodeInterrupted, 'Cancelled.');
}

export function declined(): CommandFailure {
  return new StoppedByPerson('DECLINED', exitCodes.denied, 'Not run.');
}

export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** What the system says went wrong, without the names it has for it. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^E[A-Z]+: /, '') : String(error);
}
