import type { Code } from '@sallyport/contract';
import type { ApprovalStatus } from './approval.ts';
import type { Redacted } from './redacted.ts';

/** What only operators need: their commands, the files of the rules, and the patterns in them. */
type Recipe = `${string}sallyport ${string}` | `${string}.yaml${string}` | `${string}$WORKSPACE${string}`;

/**
 * A text that agents read. It never tells how the gate would be opened: a literal that names a command of operators or a
 * file of the rules does not compile here. Such words belong in `forOperators`, which agents are never shown.
 */
export type ForEveryone<Text extends string> = Text extends Recipe ? 'Move this into forOperators.' : Text;

/** Where a rule stands, so that a denial can point to the line. */
export interface RuleReference {
  readonly id: string;
  /** Absent for rules built into the gate, such as the schema check. */
  readonly file?: string;
  readonly line?: number;
}

export interface Violation {
  /** Path of the argument, such as `options.limit`; empty for the arguments as a whole. */
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** A gate's no. A value, never thrown across a stage; shown to its caller, so it holds no secret. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly code: Code;
  readonly rule: RuleReference;
  readonly message: string;
  /** What any caller can do: never how the gate would be opened. Absent when there is nothing. */
  readonly remedy?: string;
  /** What an operator can change. Shown to operators alone, in place of `remedy`. Absent: the same for them. */
  readonly forOperators?: string;
  readonly violations?: readonly Violation[];
  /** Absent when waiting does not help. */
  readonly retryAfterMs?: number;
  /** The rules that decided. Absent when no rule was asked. */
  readonly rulesHash?: string;
  /** What it would have been with the shadow rules in force. For the log. Absent: the same. */
  readonly shadow?: { readonly effect: string; readonly ruleId: string };
  /** The tool refused in the middle of its work. Absent: nothing had happened. */
  readonly hasBegun?: boolean;
  /** Present when a person's consent would let the call through. */
  readonly approval?: ApprovalTicket;
}

/** As it may leave the gate. The effect in its ticket was masked when it was put into words. */
export interface RedactedRefusal extends Refusal {
  readonly message: Redacted;
  readonly remedy?: Redacted;
  readonly forOperators?: Redacted;
  readonly violations?: readonly (Violation & { readonly field: Redacted; readonly message: Redacted })[];
}

export interface ApprovalTicket {
  readonly binding: string;
  /** Empty for agents: it is for the person who decides. */
  readonly effect: string;
  /** Absent for a call that its own operator can confirm. */
  readonly taskId?: string;
  readonly status?: ApprovalStatus;
  readonly expiresAtMs?: number;
}

export function refuse<const Message extends string, const Remedy extends string>(
  code: Code,
  rule: string | RuleReference,
  message: ForEveryone<Message>,
  more: Omit<Partial<Refusal>, 'remedy'> & { readonly remedy?: ForEveryone<Remedy> } = {},
): Refusal {
  return { ...more, kind: 'refusal', code, rule: typeof rule === 'string' ? { id: rule } : rule, message };
}

export function isRefusal(value: object): value is Refusal {
  return 'kind' in value && value.kind === 'refusal';
}
