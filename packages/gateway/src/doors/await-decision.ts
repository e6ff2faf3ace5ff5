import type { ApprovalWatch } from '../approvals/approval-watch.ts';
import type { RedactedEnding } from './redact-ending.ts';
import type { Begun } from '../model/call.ts';
import type { RedactedProgress } from '../model/tool.ts';
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
}

export const longestWaitMs = 10 * 60_000;

/**
 * Waits for a person outside the pipeline: the call ends as pending, and once somebody has decided it is submitted
 * again, through every gate. A caller who does not want to wait gets the ticket at once.
 */
export function awaitDecision(submit: Submit, { watch, store }: DecisionParts): Submit {
  return async (call) => {
    const { waitMs = 0, signal } = call;
    const untilMs = Date.now() + Math.min(waitMs, longestWaitMs);
    let ending = await submit(call);
    for (;;) {
      const taskId = pendingTask(ending);
      const timeoutMs = untilMs - Date.now();
      if (taskId === undefined || timeoutMs <= 0 || signal.aborted) return ending;
      call.onPending?.(taskId);
      const isOver = (): boolean => store.findApproval(taskId)?.status !== 'pending';
      if (!(await watch.awaitEnd(taskId, { timeoutMs, signal, isOver }))) return ending;
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
