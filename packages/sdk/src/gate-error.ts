/** The gate did not take the request, or its answer was lost: then the log knows whether the call had an effect. */
export class GateError extends Error {
  /** `unreachable`, `bad_answer`, or a code of Connect such as `unauthenticated`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GateError';
    this.code = code;
  }
}
