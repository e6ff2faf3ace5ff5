import type { Json } from './json.ts';

/** How a call ended. `status` tells which. */
export type CallResult<Output = Json> = Success<Output> | Stored | Denied | PendingApproval | Failed;

/** What happens while a call runs. Never part of the result. */
export type CallProgress =
  | { readonly kind: 'stderr'; readonly text: string }
  /** `total` is absent when nobody knows it. */
  | { readonly kind: 'step'; readonly done: number; readonly total?: number; readonly message: string };

/** What is known about every call, however it ended. */
export interface CallFacts {
  readonly requestId: string;
  /** Names the call in the audit log. */
  readonly callId: string;
  readonly traceId: string;
  /** Canonical name, or the name as given when no such tool exists. */
  readonly tool: string;
  readonly durationMs: number;
  /** Advice that did not stop the call. */
  readonly warnings: readonly string[];
  /** What was measured. Absent: nothing ran. */
  readonly usage?: Usage;
}

export interface Usage {
  readonly cpuMs?: number;
  readonly peakMemoryBytes?: number;
  readonly networkConnections?: number;
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
  /** How CPU and memory were measured: `cgroup`, `rusage` or `sampled`. */
  readonly measuredBy?: string;
}

export interface Success<Output> extends CallFacts {
  readonly status: 'success';
  readonly output: Output;
}

/** The tool succeeded, and its output is too large for an answer: `readOutput` fetches it from the content store. */
export interface Stored extends CallFacts {
  readonly status: 'stored';
  /** BLAKE3 of the output's JSON, in hexadecimal. */
  readonly hash: string;
  readonly sizeBytes: number;
}

/** A gate said no. The same call will be denied again unless something is done about it. */
export interface Denied extends CallFacts {
  readonly status: 'denied';
  /** Such as `NO_RULE_ALLOWS`. */
  readonly code: string;
  /** Id of the rule that decided. */
  readonly rule: string;
  readonly message: string;
  /** What can be done about it. Absent: nothing known. */
  readonly remedy?: string;
  /** What is wrong with the arguments, one by one. */
  readonly violations: readonly Violation[];
}

export interface Violation {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** Nothing ran: a person must agree first. */
export interface PendingApproval extends Omit<Denied, 'status'> {
  readonly status: 'pending_approval';
  /** Absent: the gate did not say. */
  readonly approval?: ApprovalNeed;
}

/** A person's decision that a call needs. */
export interface ApprovalNeed {
  /** The task that waits. Once it is approved, the same call goes through; naming it makes sure of that. */
  readonly taskId: string;
  /** `pending`, `approved`, `denied`, `expired` or `used`. */
  readonly status: string;
  /** Names exactly this call and its effect. */
  readonly binding: string;
  /** Empty: not shown to this caller. */
  readonly effect: string;
  /** Where a person decides. Empty: at the command line of the gate. */
  readonly link: string;
  /** Absent: the gate did not say. */
  readonly expiresAt?: Date;
}

/** The call was let through and went wrong, or could not be taken now. */
export interface Failed extends CallFacts {
  readonly status: 'error';
  /** Such as `TIMEOUT` or `RATE_LIMITED`. */
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** Absent: no advice. */
  readonly retryAfterMs?: number;
  /** `permission_denied`, `validation_failed`, `timeout`, `execution_error` or `resource_exhaustion`. */
  readonly category: string;
}

/** A gate said no, or a person must agree first; `result` tells which. */
export class ToolDenied extends Error {
  readonly result: Denied | PendingApproval;

  constructor(result: Denied | PendingApproval) {
    super(`${result.tool}: ${[result.message, result.remedy ?? ''].join(' ').trim()}`);
    this.name = 'ToolDenied';
    this.result = result;
  }

  get code(): string {
    return this.result.code;
  }
}

export class ToolFailed extends Error {
  readonly result: Failed;

  constructor(result: Failed) {
    super(`${result.tool}: ${result.message}`);
    this.name = 'ToolFailed';
    this.result = result;
  }

  get code(): string {
    return this.result.code;
  }
}
