import type { Code } from '@sallyport/contract';

export interface FaultOptions extends ErrorOptions {
  /** What a person who runs the gate can do about it. Absent: nothing is known. */
  readonly forOperators?: string;
}

/** Our own failure. The cause is for the log; a caller sees the code and the call id only. */
export class Fault extends Error {
  readonly code: Code;
  readonly forOperators: string | undefined;

  constructor(code: Code, message: string, options: FaultOptions = {}) {
    super(message, options);
    this.name = 'Fault';
    this.code = code;
    this.forOperators = options.forOperators;
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
