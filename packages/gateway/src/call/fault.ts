import type { Code } from '@sallyport/contract';

/** Our own failure. The cause is for the log; a caller sees the code and the call id only. */
export class Fault extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Fault';
    this.code = code;
  }
}

/** The set-up is wrong and the daemon does not start. The message is for the person at the terminal. */
export class ConfigError extends Error {
  readonly remedy: string | undefined;

  constructor(message: string, remedy?: string) {
    super(message);
    this.name = 'ConfigError';
    this.remedy = remedy;
  }
}
