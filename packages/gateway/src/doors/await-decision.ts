import type { ApprovalWatch } from '../approvals/approval-watch.ts';
import type { RedactedEnding } from './redact-ending.ts';
import { CallEnded } from '../call/call-ended.ts';
import type { Begun } from '../call/call.ts';
import type { RunningCalls } from '../calls/running-calls.ts';
import type { RedactedProgress } from '../call/tool.ts';
import type { ApprovalIndex } from '../storage/stores.ts';

export type Submission = Omit<Begun, 'callId' | 'startedAtMs' | 'onProgress'> & {
  /** Absent: the caller does not ask how the call goes on. */
  readonly onProgress?: ((progress: RedactedProgress) => void) | undefined;
  /** Hears, before the wait begins, that the call waits for a person. Absent: the caller sees it in the answer. */
  readonly onPending?: (taskId: string) => void;
};
export type Submit = (call: Submission) => Promise<RedactedEnding>;

export interface DecisionParts {
  readonly watch: ApprovalWatch;
  readonly store: Pick<ApprovalIndex, 'findApproval'>;
  readonly running: Pick<RunningCalls, 'open' | 'identify'>;
}

export const longestWaitMs = 10 * 60_000;
/** As `waitMs`: until somebody has decided or the task has expired. */
export const untilDecided = Number.POSITIVE_INFINITY;
/** What a timer holds; every task expires long before. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Waits for a person outside the pipeline: the call ends as pending, and once somebody has decided it is submitted
 * again, through every gate. A caller who does not want to wait gets the ticket at once.
 */
export function awaitDecision(submit: Submit, { watch, store, running }: DecisionParts): Submit {
  return async (call) => {
    const { waitMs = 0, signal } = call;
    const untilMs = Date.now() + (waitMs === untilDecided ? longestTimerMs : Math.min(waitMs, longestWaitMs));
    let ending = await submit(call);
    for (;;) {
      const taskId = pendingTask(ending);
      const timeoutMs = untilMs - Date.now();
      if (taskId === undefined || timeoutMs <= 0 || signal.aborted) return ending;
      call.onPending?.(taskId);
      const isOver = (): boolean => store.findApproval(taskId)?.status !== 'pending';
      const { callId = taskId, session, startedAtMs = Date.now() } = ending.call;
      const waiting = running.open({ callId, toolName: call.toolName, startedAtMs }, signal);
      if (session !== undefined) running.identify(callId, session);
      try {
        if (!(await watch.awaitEnd(taskId, { timeoutMs, signal: waiting.signal, isOver }))) {
          const reason: unknown = waiting.signal.reason;
          // The ticket outlives the daemon. Whoever ended the wait otherwise is named by another record.
          if (!(reason instanceof CallEnded) || reason.how === 'stop') return ending;
          return await submit({ ...call, signal: waiting.signal });
        }
      } finally {
        waiting.close();
      }
      // A call that was asked about under other rules is judged anew.
      const { approvalTaskId: _, ...anew } = call;
      ending = await submit(isOver() ? { ...call, approvalTaskId: taskId } : anew);
    }
  };
}

/** The task that a refused call waits for, as long as nobody has decided. */
function pendingTask(ending: RedactedEnding): string | undefined {
  if (ending.kind !== 'refused' || ending.refusal.code !== 'APPROVAL_REQUIRED') return undefined;
  const { approval } = ending.refusal;
  return approval?.status === 'pending' ? approval.taskId : undefined;
}
