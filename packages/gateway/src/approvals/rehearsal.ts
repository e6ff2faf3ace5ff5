import type { JsonObject } from '@sallyport/contract';
import type { Refusal } from '../model/refusal.ts';
import type { Session } from '../model/session.ts';
import type { Effect, Risk } from '../model/tool.ts';

/** A call that somebody means to make. */
export interface PlannedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What would become of it. Texts are redacted. */
export interface Rehearsed {
  /** Canonical. */
  readonly tool: string;
  readonly callSha256: string;
  /** With defaults, as JSON. */
  readonly shownArguments: string;
  readonly risk: Risk;
  readonly effect: Effect;
}

/** Sends a call through the gates that only look, as this session, and works out its effect. Nothing runs. */
export type Rehearse = (session: Session, call: PlannedCall, signal: AbortSignal) => Promise<Rehearsed | Refusal>;
