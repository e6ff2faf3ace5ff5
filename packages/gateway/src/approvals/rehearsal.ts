import type { JsonObject } from '@sallyport/contract';
import type { Redacted } from '../call/redacted.ts';
import type { RedactedRefusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import type { Effect, Risk } from '../call/tool.ts';
import type { MaskedSecret } from '../call/approval.ts';

/** A call that somebody means to make. */
export interface PlannedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What would become of it. Secrets in its texts are masked. */
export interface Rehearsed {
  /** Canonical. */
  readonly tool: string;
  readonly callSha256: string;
  /** With defaults, as JSON. */
  readonly shownArguments: Redacted;
  readonly risk: Risk;
  readonly effect: Effect;
  /** Over the effect before secrets were masked: what is agreed to is this one. */
  readonly boundSha256: string;
  /** The rules that ask about it. */
  readonly askedBy: readonly string[];
  /** Paths that it may change, and those that its effect depends on. Undefined: any. */
  readonly changes: readonly string[] | undefined;
  readonly dependsOn: readonly string[] | undefined;
  /** The secrets that have a mark in the effect. */
  readonly masked: readonly MaskedSecret[];
  /** What those marks stand for. Not to be written down anywhere. */
  readonly secrets: readonly string[];
}

/**
 * Sends a call through the gates that only look, as this session, and works out its effect. Nothing runs. `before`: tools
 * that would have been called by then.
 */
export type Rehearse = (
  session: Session,
  call: PlannedCall,
  signal: AbortSignal,
  before?: readonly string[],
) => Promise<Rehearsed | RedactedRefusal>;
