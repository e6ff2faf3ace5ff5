import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { ProgramNotStarted } from '../model/program.ts';
import { ToolFailure, ToolRefused } from '../model/tool.ts';
import { showHidden } from '../registry/hidden-text.ts';

export interface Trouble {
  readonly failure: ToolFailure | ToolRefused;
  /** Whether the connection is of no use any more. */
  readonly isLost: boolean;
  /** The server wanted a person or a model before it would answer. Absent: no. */
  readonly isAsking?: true;
}

const longestText = 2000;

/** What went wrong with a server, in words for the caller. `cause`: why the connection closed, as far as it is known. */
export function describeTrouble(name: string, error: unknown, cause?: Error): Trouble {
  const fail = (code: ConstructorParameters<typeof ToolFailure>[0], text: string): ToolFailure =>
    new ToolFailure(code, `The upstream server ${name} ${showHidden(text).slice(0, longestText)}`, { cause: error });
  if (error instanceof ToolRefused) return { failure: error, isLost: false };
  if (cause instanceof ToolFailure) return { failure: cause, isLost: true };
  if (error instanceof ToolFailure) return { failure: error, isLost: error.code === 'TOO_LARGE' };
  if (error instanceof ProtocolError)
    return { failure: fail('EXECUTION_ERROR', `says: ${error.message}`), isLost: false };
  if (error instanceof SdkError) {
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return { failure: fail('TIMEOUT', 'did not answer in time.'), isLost: false };
      case SdkErrorCode.InvalidResult:
        return { failure: fail('INVALID_RESULT', 'sent an answer that the protocol does not know.'), isLost: false };
      case SdkErrorCode.UnsupportedResultType:
      case SdkErrorCode.InputRequiredRoundsExceeded:
        return {
          failure: fail('EXECUTION_ERROR', 'asked for more input, which the gate refuses.'),
          isLost: false,
          isAsking: true,
        };
      default:
    }
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return { failure: fail('UPSTREAM_UNAVAILABLE', 'did not answer in time.'), isLost: true };
  }
  if (error instanceof ProgramNotStarted) {
    return { failure: fail('UPSTREAM_UNAVAILABLE', `cannot run: ${error.message}`), isLost: true };
  }
  const why = cause ?? error;
  const reason = why instanceof Error ? why.message : String(why);
  return { failure: fail('UPSTREAM_UNAVAILABLE', `went away: ${reason}`), isLost: true };
}
