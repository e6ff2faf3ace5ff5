import { describeCode } from '@sallyport/contract';
import type { Code, FailureCategory } from '@sallyport/contract';
import type { Consent, Outcome } from './call.ts';
import { ownText, say } from './redacted.ts';
import type { Redacted } from './redacted.ts';
import type { ApprovalTicket, Violation } from './refusal.ts';
import type { Session } from './session.ts';
import type { Ending } from './stage.ts';
import type { ToolDefinition, ToolUsage } from './tool.ts';

/**
 * How a call ended, as its caller may know it: in the words that are meant for them, without secrets. It is made once
 * for each call, and doors map from it and from nothing else. What a tool returned is in it as it was returned.
 */
export interface Answer {
  /** `pending`: a person has to agree first. */
  readonly status: 'success' | 'pending' | 'denied' | 'error';
  readonly ended: Ending<unknown>['kind'];
  /** Empty, like the next two: the call was turned away before it had one. */
  readonly requestId: string;
  readonly callId: string;
  readonly traceId: string;
  /** The trace as the caller names it. Undefined: it does not, or as we do. */
  readonly callerTraceId: string | undefined;
  readonly taskId: string;
  readonly correlationId: string;
  /** Who called. Undefined: the gate does not know. */
  readonly session: Pick<Session, 'id' | 'agent' | 'principal'> | undefined;
  /** As the caller named the tool. */
  readonly askedFor: Redacted;
  /** Undefined: there is no such tool for this caller. */
  readonly tool: ToolDefinition | undefined;
  /** Undefined: they were not read, or hold secrets. */
  readonly argumentsSha256: string | undefined;
  /** What the rules said. Undefined: they were not asked. */
  readonly verdict: { readonly reason: string; readonly rule: { readonly id: string } } | undefined;
  readonly consent: Pick<Consent, 'by' | 'atMs'> | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** How long the tool ran. */
  readonly activeMs: number;
  /** Undefined: the tool did not run. */
  readonly usage: ToolUsage | undefined;
  /** Whether it is the result of an earlier call with the same dedupe key. */
  readonly isReused: boolean;
  /** Whether the effect may have begun. False proves that nothing happened. */
  readonly hasBegun: boolean;
  readonly warnings: readonly string[];
  /** Undefined unless the call succeeded. */
  readonly output: Output | undefined;
  /** Undefined if the call succeeded. */
  readonly problem: Problem | undefined;
}

export type Output = Omit<Extract<Outcome, { readonly ok: true }>, 'ok'>;

/** Why a call did not succeed. */
export interface Problem {
  readonly code: Code;
  readonly message: Redacted;
  readonly category: FailureCategory;
  readonly retryable: boolean;
  /** Undefined: no time is known after which it may succeed. */
  readonly retryAfterMs: number | undefined;
  /** What denied the call. Undefined: it was not denied, it failed. */
  readonly ruleId: string | undefined;
  readonly remedy: Redacted | undefined;
  /** Undefined: nothing was wrong with the form. */
  readonly violations: readonly Violation[] | undefined;
  /** Undefined: no person is asked. Its effect was masked when it was put into words. */
  readonly approval: ApprovalTicket | undefined;
}

type MoreOfProblem = { readonly [Name in keyof Problem]?: Problem[Name] | undefined };

export function problemOf(code: Code, message: Redacted, more: MoreOfProblem = {}): Problem {
  const { category: usual, retryable } = describeCode(code);
  const { category = usual, retryAfterMs, ruleId, remedy, violations, approval } = more;
  return { code, message, category, retryable, retryAfterMs, ruleId, remedy, violations, approval };
}

/** The name of the tool: its own, or the one that the caller used. */
export function toolNameOf({ tool, askedFor }: Answer): string {
  return tool?.name ?? askedFor;
}

/** The task that a person has to decide before the call can run. */
export function pendingTaskOf({ status, problem }: Answer): string | undefined {
  return status === 'pending' ? problem?.approval?.taskId : undefined;
}

export function durationOf({ startedAtMs, endedAtMs }: Answer): number {
  return Math.max(0, endedAtMs - startedAtMs);
}

export function isForOperator({ session }: Partial<Pick<Answer, 'session'>>): boolean {
  return session?.principal === 'operator';
}

/** Whom an agent can turn to, and with what. */
export function askPerson(callId: string): Redacted {
  return say`If a person should look at it, give them call ${ownText(callId)}.`;
}
