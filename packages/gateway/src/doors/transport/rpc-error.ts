import { codes } from '@sallyport/contract';
import type { ConnectCode } from '@sallyport/contract';
import type { RedactText } from '../../call/redacted.ts';

/** A message that tells programs more about an error than its text. */
export interface ErrorDetail {
  /** Full name of the message. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** An answer that is no message. Code and details reach the caller as they are; secrets are taken out of the text. */
export class RpcError extends Error {
  readonly code: ConnectCode;
  readonly details: readonly ErrorDetail[];

  constructor(
    code: ConnectCode,
    message: string,
    { details = [] }: { readonly details?: readonly ErrorDetail[] } = {},
  ) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.details = details;
  }
}

export interface TransportEvent {
  readonly message: string;
  /** The method or path. Absent when the event belongs to none. */
  readonly path?: string;
  readonly error?: unknown;
}

/** Must not throw. */
export type TransportLog = (event: TransportEvent) => void;

/** What the caller may know of an error: an RpcError is meant for them, anything else goes to the log only. */
export function presentError(
  error: unknown,
  path: string,
  { log, redact }: { readonly log: TransportLog; readonly redact: RedactText },
): RpcError {
  if (error instanceof RpcError) return new RpcError(error.code, redact(error.message), error);
  log({ message: 'A handler failed.', path, error });
  return new RpcError('internal', codes.INTERNAL.meaning);
}
