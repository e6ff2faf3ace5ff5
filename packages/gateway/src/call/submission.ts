import type { Answer } from './answer.ts';
import type { Submitted } from './call.ts';
import type { AbortLike } from './cancellation.ts';
import type { AskCaller, RedactedProgress } from './tool.ts';

/** A call as doors hand it in. */
export type Submission = Submitted & {
  /** Answers questions of the tool. Absent: the caller answers none. */
  readonly askCaller?: AskCaller | undefined;
  /** Aborts when the caller cancels or goes away. */
  readonly signal: AbortLike;
  /** Absent: the caller does not ask how the call goes on. */
  readonly onProgress?: ((progress: RedactedProgress) => void) | undefined;
  /** Is told, before the wait begins, that the call waits for a person. Absent: the caller sees it in the answer. */
  readonly onPending?: ((taskId: string) => void) | undefined;
};

/** Runs a call through the gate. Never rejects for what happens to the call. */
export type Submit = (call: Submission) => Promise<Answer>;

export const longestWaitMs = 10 * 60_000;
/** As `waitMs`: until somebody has decided or the task has expired. */
export const untilDecided = Number.POSITIVE_INFINITY;
