import type { ApprovalNeedJson, DeniedJson, ExecuteToolResponseJson } from '../index.ts';

/** How a call ended. `status` tells which. */
export type CallResult<Output = unknown> = Success<Output> | Stored | Denied | PendingApproval | Failed;

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
  /** What the caller can confirm themselves, or what became of a decision. Absent: there is no such thing. */
  readonly approval?: ApprovalNeed;
}

export interface Violation {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** Nothing ran: somebody else must agree first, and was asked. */
export interface PendingApproval extends Omit<Denied, 'status'> {
  readonly status: 'pending_approval';
  readonly approval: ApprovalNeed;
}

/** A person's decision that a call needs. */
export interface ApprovalNeed {
  /**
   * The task that waits. Once it is approved, the same call goes through; naming it makes sure of that. Empty: nobody
   * else was asked.
   */
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

export function readResult(answer: ExecuteToolResponseJson): CallResult {
  const facts = readFacts(answer);
  const { success, denied, error } = answer;
  if (success?.resultHash) {
    return { ...facts, status: 'stored', hash: hexOf(success.resultHash), sizeBytes: numberOf(success.resultSize) };
  }
  if (success !== undefined) return { ...facts, status: 'success', output: JSON.parse(success.outputJson || 'null') };
  if (denied !== undefined) return readDenied(denied, facts);
  const retryAfterMs = numberOf(error?.retryAfterMs);
  return {
    ...facts,
    status: 'error',
    code: error?.code ?? 'UNKNOWN',
    message: error?.message ?? 'The gate gave no result.',
    retryable: error?.retryable ?? false,
    ...(retryAfterMs === 0 ? {} : { retryAfterMs }),
    category: error?.category ?? 'execution_error',
  };
}

function readDenied(denied: DeniedJson, facts: CallFacts): CallResult {
  const refusal = {
    ...facts,
    code: denied.rationaleCode ?? '',
    rule: denied.ruleId ?? '',
    message: denied.message ?? '',
    ...(denied.remedy ? { remedy: denied.remedy } : {}),
    violations: (denied.violations ?? []).map(({ field = '', rule = '', message = '' }) => ({ field, rule, message })),
  };
  if (denied.approval === undefined) return { ...refusal, status: 'denied' };
  const approval = readApproval(denied.approval);
  const isPending = refusal.code === 'APPROVAL_REQUIRED' && approval.taskId !== '';
  return { ...refusal, approval, status: isPending ? 'pending_approval' : 'denied' };
}

function readApproval(need: ApprovalNeedJson): ApprovalNeed {
  const { taskId = '', status = '', binding = '', effect = '', link = '', expiresAtMs } = need;
  const expiry = expiresAtMs === undefined ? {} : { expiresAt: new Date(Number(expiresAtMs)) };
  return { taskId, status, binding, effect, link, ...expiry };
}

function readFacts(answer: ExecuteToolResponseJson): CallFacts {
  const { requestId = '', callId = '', traceId = '', tool = '', durationMs, warnings = [], usage } = answer;
  const facts = { requestId, callId, traceId, tool, durationMs: numberOf(durationMs), warnings };
  if (usage === undefined) return facts;
  const { measuredBy, ...counts } = usage;
  const numbers = Object.entries(counts).map(([name, value]) => [name, Number(value)] as const);
  return { ...facts, usage: { ...Object.fromEntries(numbers), ...(measuredBy === undefined ? {} : { measuredBy }) } };
}

/** 64-bit numbers are text on this wire, and an absent one is zero. */
export function numberOf(value: string | undefined): number {
  return Number(value ?? 0);
}

/** Bytes are base64 on this wire. */
function hexOf(base64: string): string {
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}
