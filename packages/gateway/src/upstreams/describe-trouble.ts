import {
  InsufficientScopeError,
  OAuthClientFlowError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { ProgramLost, ProgramNotStarted } from '@sallyport/sandbox';
import { cutText } from '../call/redacted.ts';
import type { RedactText } from '../call/redacted.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import { makeVisible } from '@sallyport/contract';
import { describeLoginTrouble } from './login/describe-login-trouble.ts';
import { LoginHostRefused } from './login/login-fetch.ts';
import { LoginNeeded } from './login/login-needed.ts';
import type { PersonLogin } from './login/person-login.ts';
import { RequestRefused } from './requests/request-kinds.ts';

export interface UpstreamTrouble {
  readonly failure: ToolFailure | ToolRefused;
  /** Whether the connection is no longer usable. */
  readonly isLost: boolean;
}

export interface TroubledUpstream {
  readonly name: string;
  readonly redact: RedactText;
  /** Absent: no person logs in there. */
  readonly login?: PersonLogin;
}

const longestText = 2000;

/**
 * What went wrong with a server, in words for the caller. `cause`: why the connection closed, as far as it is known.
 */
export function describeTrouble(upstream: TroubledUpstream, error: unknown, cause?: Error): UpstreamTrouble {
  return describeLogin(upstream, error) ?? describeOther(upstream, error, cause);
}

/** Trouble with the login or credential of the gate. Undefined: it is something else. */
function describeLogin({ name, login }: TroubledUpstream, error: unknown): UpstreamTrouble | undefined {
  if (error instanceof LoginNeeded) return { failure: error, isLost: true };
  // The token is good for other calls.
  if (error instanceof InsufficientScopeError && login !== undefined) {
    return { failure: login.noteMissingScope(error), isLost: false };
  }
  const isRefused =
    error instanceof UnauthorizedError ||
    error instanceof InsufficientScopeError ||
    (error instanceof SdkError && error.code === SdkErrorCode.ClientHttpAuthentication);
  if (isRefused && login !== undefined) {
    return { failure: new LoginNeeded(name, 'does not accept the login that it gave'), isLost: true };
  }
  if (isRefused) {
    const text = `The upstream server ${name} does not accept the credential that its file names.`;
    return { failure: new ToolFailure('UPSTREAM_FAILED', text, { cause: error }), isLost: true };
  }
  if (error instanceof OAuthError || error instanceof OAuthClientFlowError || error instanceof LoginHostRefused) {
    return { failure: describeLoginTrouble(name, error), isLost: true };
  }
  return undefined;
}

function describeOther({ name, redact }: TroubledUpstream, error: unknown, cause?: Error): UpstreamTrouble {
  const fail = (code: ConstructorParameters<typeof ToolFailure>[0], text: string, forOperators?: string): ToolFailure =>
    new ToolFailure(code, `The upstream server ${name} ${makeVisible(cutText(redact(text), longestText))}`, {
      cause: error,
      ...(forOperators === undefined ? {} : { forOperators }),
    });
  if (error instanceof ToolRefused) return { failure: error, isLost: false };
  const lost = [cause, error].find((each) => each instanceof ProgramLost);
  if (lost !== undefined) return { failure: new ToolFailure(lost.code, lost.message), isLost: true };
  if (cause instanceof ToolFailure) return { failure: cause, isLost: true };
  if (error instanceof ToolFailure) return { failure: error, isLost: error.code === 'TOO_LARGE' };
  if (error instanceof ProtocolError)
    return { failure: fail('EXECUTION_ERROR', `says: ${error.message}`), isLost: false };
  if (error instanceof RequestRefused) {
    return {
      failure: fail('EXECUTION_ERROR', `asked a question before it would answer. ${error.message}`),
      isLost: false,
    };
  }
  if (error instanceof SdkError) {
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return { failure: fail('TIMEOUT', 'did not answer in time.'), isLost: false };
      case SdkErrorCode.InvalidResult:
        return { failure: fail('INVALID_RESULT', 'sent an answer that is not valid MCP.'), isLost: false };
      case SdkErrorCode.UnsupportedResultType:
        return {
          failure: fail('INVALID_RESULT', 'sent an answer of a kind that the gate does not know.'),
          isLost: false,
        };
      default:
    }
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return { failure: fail('UPSTREAM_UNAVAILABLE', 'did not answer in time.'), isLost: true };
  }
  if (error instanceof ProgramNotStarted) {
    return { failure: fail('UPSTREAM_UNAVAILABLE', `cannot run: ${error.message}`, error.remedy), isLost: true };
  }
  const why = cause ?? error;
  const reason = why instanceof Error ? why.message : String(why);
  return {
    failure: fail('UPSTREAM_UNAVAILABLE', `went away: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`),
    isLost: true,
  };
}
