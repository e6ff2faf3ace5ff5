// Every code a caller can meet, once. Doors, command line and docs/errors.md all read this table.

/** How gRPC and Connect name the status of an answer that is no message, and how HTTP numbers it. */
const statuses = {
  canceled: { grpc: 1, http: 499 },
  unknown: { grpc: 2, http: 500 },
  invalid_argument: { grpc: 3, http: 400 },
  deadline_exceeded: { grpc: 4, http: 504 },
  not_found: { grpc: 5, http: 404 },
  already_exists: { grpc: 6, http: 409 },
  permission_denied: { grpc: 7, http: 403 },
  resource_exhausted: { grpc: 8, http: 429 },
  failed_precondition: { grpc: 9, http: 400 },
  aborted: { grpc: 10, http: 409 },
  out_of_range: { grpc: 11, http: 400 },
  unimplemented: { grpc: 12, http: 501 },
  internal: { grpc: 13, http: 500 },
  unavailable: { grpc: 14, http: 503 },
  data_loss: { grpc: 15, http: 500 },
  unauthenticated: { grpc: 16, http: 401 },
} as const;

export type ConnectCode = keyof typeof statuses;

export type FailureCategory =
  | 'permission_denied'
  | 'validation_failed'
  | 'timeout'
  | 'execution_error'
  | 'resource_exhaustion';

interface CodeRow {
  /** A gate said no (`denied`), or the call was let through or could not be judged and went wrong (`error`). */
  readonly presentedAs: 'denied' | 'error';
  readonly category: FailureCategory;
  readonly connect: ConnectCode;
  readonly retryable: boolean;
  readonly meaning: string;
}

const rowsOf =
  (presentedAs: CodeRow['presentedAs'], retryable = false) =>
  (category: FailureCategory, connect: ConnectCode, meaning: string): CodeRow => ({
    presentedAs,
    category,
    connect,
    retryable,
    meaning,
  });

const denied = rowsOf('denied');
const error = rowsOf('error');
const transient = rowsOf('error', true);
const forbidden = (meaning: string) => denied('permission_denied', 'permission_denied', meaning);
/** Something else has to happen first. */
const unready = (meaning: string) => denied('permission_denied', 'failed_precondition', meaning);
const overLimit = (meaning: string) => error('resource_exhaustion', 'resource_exhausted', meaning);

export const codes = {
  // Before anything is known about the call
  MALFORMED_CALL: denied('validation_failed', 'invalid_argument', 'The request could not be read.'),
  MALFORMED_ARGUMENTS: denied(
    'validation_failed',
    'invalid_argument',
    'The arguments are not one JSON object, repeat a key, or hold a number that would lose precision.',
  ),
  ARGUMENTS_TOO_LARGE: denied('validation_failed', 'invalid_argument', 'The arguments exceed the size limit.'),
  UNAUTHENTICATED: denied('permission_denied', 'unauthenticated', 'No credential was presented, or an unknown one.'),
  WRONG_DOOR: denied('permission_denied', 'unauthenticated', 'The credential is not accepted at this door.'),
  SESSION_EXPIRED: denied('permission_denied', 'unauthenticated', 'The session has reached its end time.'),
  SESSION_QUARANTINED: denied(
    'permission_denied',
    'unauthenticated',
    'The session broke the rules too often and was put into quarantine.',
  ),
  SESSION_ENDED: denied('permission_denied', 'unauthenticated', 'The session was ended.'),

  // Gates
  UNKNOWN_TOOL: denied('validation_failed', 'not_found', 'No tool has this name.'),
  INVALID_ARGUMENTS: denied('validation_failed', 'invalid_argument', 'The arguments violate the schema of the tool.'),
  OUTSIDE_LEASE: forbidden('The lease of the session does not cover the call.'),
  MODE_FORBIDS: unready('The tool may not be used in the current mode.'),
  NO_RULE_ALLOWS: forbidden('No rule allows the call.'),
  RULE_DENIES: forbidden('A rule denies the call.'),
  PROTECTED_PATH: forbidden('No rule can open this path.'),
  UNSAFE_PATH: forbidden('The path leads through a link, or to a special or hard-linked file.'),
  HOST_REFUSED: forbidden(
    'The gate does not connect there: the host is not public, not granted, or written in a way that can be misread.',
  ),
  CALL_REPEATED: unready('The same call gave the same result too often.'),
  DEDUPE_CONFLICT: denied('validation_failed', 'already_exists', 'The dedupe key was used with other arguments.'),
  DEDUPE_UNKNOWN: denied(
    'execution_error',
    'failed_precondition',
    'The effect of the first call with this dedupe key is not known, so it does not run again.',
  ),
  BUDGET_EXCEEDED: denied(
    'resource_exhaustion',
    'resource_exhausted',
    'The budget of the session or of its lease is spent. The message says which one, the amount and the limit.',
  ),
  RATE_LIMITED: transient('resource_exhaustion', 'resource_exhausted', 'Too many calls in a short time.'),
  TOO_MANY_CALLS: transient('resource_exhaustion', 'resource_exhausted', 'Too many calls are running.'),
  APPROVAL_REQUIRED: unready('A person must agree to the call.'),
  APPROVAL_MISMATCH: unready('The confirmation was given for another call or another effect.'),
  APPROVAL_UNSEEN: unready(
    'Part of the effect is masked or too long, and the person who decides has not looked at it.',
  ),
  APPROVAL_OUTDATED: unready('The request cannot be approved as it is. The agent has to ask again.'),
  APPROVAL_DENIED: forbidden('A person decided against the call.'),
  APPROVAL_EXPIRED: unready('Nobody decided about the call in time.'),
  APPROVAL_USED: unready('The approval has been used: one decision is one run.'),
  NO_APPROVER: unready('Nobody can decide about the call.'),
  TOO_MANY_APPROVALS: denied(
    'resource_exhaustion',
    'resource_exhausted',
    'Too many calls of the session wait for a decision.',
  ),
  CONFIRM_TOKEN_INVALID: forbidden('This gate did not issue the confirm token, or its key was revoked.'),
  CONFIRM_TOKEN_USED: unready('The confirm token was used before.'),
  CONFIRM_TOKEN_TRACE: forbidden('The confirm token belongs to another session or trace.'),
  CONFIRM_TOKEN_SCOPE: forbidden('The confirm token does not cover the call.'),
  CONFIRM_TOKEN_EXPIRED: unready('The confirm token has expired.'),
  STANDING_CHANGED: transient(
    'permission_denied',
    'aborted',
    'Mode, session or rules changed between the decision and the effect.',
  ),
  DISK_NEARLY_FULL: transient(
    'resource_exhaustion',
    'resource_exhausted',
    'The disk of the log is nearly full; calls that change something are refused.',
  ),
  TOOL_NOT_ACCEPTED: unready('An operator has not accepted the tool, or it has changed since.'),
  TOOL_STARTING: transient(
    'resource_exhaustion',
    'unavailable',
    'The tool was accepted but is not ready yet, because the gate has just started.',
  ),
  TOOL_MISSING: denied('execution_error', 'failed_precondition', 'The program of the tool is gone or does not start.'),
  COMMAND_UNCLEAR: denied(
    'validation_failed',
    'invalid_argument',
    'The gate cannot judge a part of the command line, so it does not run.',
  ),
  SANDBOX_UNAVAILABLE: unready('The tool needs a sandbox, and none on this machine passed its test.'),
  FOLDER_BUSY: transient(
    'resource_exhaustion',
    'unavailable',
    'Another program is running that may change the same folder, so the program was not started.',
  ),
  LIMIT_UNENFORCEABLE: denied(
    'resource_exhaustion',
    'failed_precondition',
    'A limit of the call cannot be enforced on this machine.',
  ),
  SEALED: denied('resource_exhaustion', 'unavailable', 'The log cannot be written, so nothing runs.'),
  STOPPING: transient('resource_exhaustion', 'unavailable', 'The daemon is stopping.'),

  // The tool ran and failed
  NOT_FOUND: error('execution_error', 'not_found', 'The file or folder does not exist.'),
  ALREADY_EXISTS: error('execution_error', 'already_exists', 'The target exists.'),
  NOT_A_FILE: error('validation_failed', 'failed_precondition', 'The path is not a regular file.'),
  NOT_A_FOLDER: error('validation_failed', 'failed_precondition', 'The path is not a folder.'),
  NOT_TEXT: error('validation_failed', 'failed_precondition', 'The file is not UTF-8 text.'),
  TOO_LARGE: error('validation_failed', 'out_of_range', 'The file or result exceeds the size limit.'),
  NO_MATCH: error('validation_failed', 'failed_precondition', 'The text to replace is not in the file.'),
  MULTIPLE_MATCHES: error(
    'validation_failed',
    'failed_precondition',
    'The text to replace is in the file more than once.',
  ),
  FILE_CHANGED: transient('execution_error', 'aborted', 'Something else changed the file meanwhile.'),
  CONTENT_MISMATCH: error('validation_failed', 'invalid_argument', 'The bytes sent are not those that were declared.'),
  CONTENT_CORRUPTED: error('execution_error', 'data_loss', 'The stored bytes of the content are damaged.'),
  DISK_FULL: overLimit('There is no space left for the result.'),
  TIMEOUT: error('timeout', 'deadline_exceeded', 'The call took longer than its limit.'),
  CANCELLED: error(
    'execution_error',
    'canceled',
    'The caller or a person cancelled the call, or its session or the daemon ended.',
  ),
  EFFECT_UNKNOWN: error(
    'execution_error',
    'aborted',
    'The call was cut off after it had begun; whether its effect happened is not known.',
  ),
  CPU_LIMIT: overLimit('The program used all the CPU time it may use.'),
  MEMORY_LIMIT: overLimit('The program used all the memory it may use.'),
  PROCESS_LIMIT: overLimit('The program started too many processes.'),
  FILE_SIZE_LIMIT: overLimit('The program wrote a file that is too large.'),
  DISK_LIMIT: overLimit('The program wrote more to disk than it may.'),
  OUTPUT_LIMIT: overLimit('The program wrote more output than it may.'),
  EXECUTOR_LOST: transient(
    'execution_error',
    'unavailable',
    'The process that starts programs ended while the call ran. It may be sent again.',
  ),
  UPSTREAM_UNAVAILABLE: transient(
    'execution_error',
    'unavailable',
    'The upstream server cannot be reached, or went away during a call that may be sent again.',
  ),
  UPSTREAM_FAILED: error(
    'execution_error',
    'failed_precondition',
    'The upstream server does not start, or refuses the credential of the gate. An operator has to change something.',
  ),
  EXECUTION_ERROR: error('execution_error', 'unknown', 'The tool failed.'),
  STEP_FAILED: error(
    'execution_error',
    'failed_precondition',
    'A step of the pipeline failed or was refused; the message names it. What the steps before it did remains.',
  ),
  INVALID_RESULT: error('execution_error', 'internal', 'The result violates the output schema of the tool.'),

  // Our own faults
  INTERNAL: error('execution_error', 'internal', 'Sallyport itself failed; the log has the details.'),
  OUTCOME_UNRECORDED: error(
    'resource_exhaustion',
    'data_loss',
    'The effect may have happened, but its outcome could not be recorded.',
  ),
} as const satisfies Record<string, CodeRow>;

export type Code = keyof typeof codes;

export const exitCodes = {
  success: 0,
  usage: 1,
  unreachable: 2,
  denied: 3,
  toolError: 4,
  pendingApproval: 5,
} as const;

export interface CodeInfo extends CodeRow {
  readonly code: Code;
  readonly http: number;
  readonly grpc: number;
  readonly jsonRpc: number;
  readonly exit: number;
}

export function describeCode(code: Code): CodeInfo {
  const row: CodeRow = codes[code];
  return {
    ...row,
    code,
    ...statuses[row.connect],
    jsonRpc: row.connect === 'invalid_argument' ? -32602 : row.connect === 'internal' ? -32603 : -32000,
    exit: row.presentedAs === 'denied' ? exitCodes.denied : exitCodes.toolError,
  };
}

export function httpStatusOf(connect: ConnectCode): number {
  return statuses[connect].http;
}

export function grpcStatusOf(connect: ConnectCode): number {
  return statuses[connect].grpc;
}
