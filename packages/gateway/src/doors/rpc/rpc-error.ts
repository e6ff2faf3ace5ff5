import { codes } from '@sallyport/contract';
import type { ConnectCode } from '@sallyport/contract';

/** An answer that is no message. Code and message reach the caller as they are, so they hold no secret. */
export class RpcError extends Error {
  readonly code: ConnectCode;

  constructor(code: ConnectCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RpcError';
    this.code = code;
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
export function presentError(error: unknown, path: string, log: TransportLog): RpcError {
  if (error instanceof RpcError) return error;
  log({ message: 'A handler failed.', path, error });
  return new RpcError('internal', codes.INTERNAL.meaning);
}
