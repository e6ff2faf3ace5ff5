import type { Code, Json } from '@sallyport/contract';
import type { ParentCall } from '../call/call.ts';
import type { Progress } from '../call/tool.ts';

/** A call that a pipeline makes: complete, like any that comes through a door. */
export interface StepCall {
  readonly id: string;
  readonly parent: ParentCall;
  readonly tool: string;
  /** JSON text. */
  readonly input: string;
  /** Aborts with the pipeline. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** Hears that the step waits for a person. */
  readonly onPending: (taskId: string) => void;
}

/** As a caller at a door sees it. */
export type StepEnding = { readonly ok: true; readonly callId: string; readonly output: Json } | FailedStep;

export interface FailedStep {
  readonly ok: false;
  /** Absent: it did not even become a call. */
  readonly callId?: string;
  /** A gate said no, or the tool failed. */
  readonly how: 'refused' | 'failed';
  readonly code: Code;
  readonly message: string;
  /** Empty: there is none. */
  readonly remedy: string;
  /** Whether its effect may have begun. */
  readonly hasBegun: boolean;
  /** The task that nobody has decided yet. Absent: no person is asked. */
  readonly pendingTask?: string;
}

/**
 * Runs a step through the whole gate, as the session of its parent is now. Where a person must decide, it waits until
 * the signal aborts. Never rejects for what happens to the call. Nothing but pipelines is given this.
 */
export type SubmitStep = (call: StepCall) => Promise<StepEnding>;
