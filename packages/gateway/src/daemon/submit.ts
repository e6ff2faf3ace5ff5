import { randomUUIDv7 } from 'node:crypto';
import type { ApprovalWatch } from '../approvals/approval-watch.ts';
import type { Rehearse } from '../approvals/rehearsal.ts';
import { pendingTaskOf } from '../call/answer.ts';
import type { Answer } from '../call/answer.ts';
import { CallEnded } from '../call/call-ended.ts';
import { Call } from '../call/call.ts';
import type { Chained } from '../call/call.ts';
import { longestWaitMs, untilDecided } from '../call/submission.ts';
import type { Submission, Submit } from '../call/submission.ts';
import type { RunningCalls } from '../calls/running-calls.ts';
import type { Gateway, Rehearsal } from '../gateway.ts';
import type { CallEnding } from '../call/stage.ts';
import { submitSteps } from '../pipelines/submit-step.ts';
import type { SubmitStep } from '../pipelines/submit-step.ts';
import { redactProgress, redactQuestions } from '../redaction/redact-progress.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { ApprovalRepository } from '../storage/stores.ts';
import { answerCall } from './answer-call.ts';
import { rehearseCalls } from './rehearse-calls.ts';

export interface SubmitParts extends DecisionParts {
  readonly gateway: Gateway;
  readonly rehearsal: Rehearsal;
  readonly redactor: Redactor;
}

export interface DecisionParts {
  readonly watch: ApprovalWatch;
  readonly store: Pick<ApprovalRepository, 'findApproval'>;
  readonly running: Pick<RunningCalls, 'open'>;
}

export interface Submitting {
  /** For doors. */
  readonly submit: Submit;
  /** For pipelines: the door inside the gate. */
  readonly submitStep: SubmitStep;
  /** For plans. */
  readonly rehearse: Rehearse;
}

const context = { nowMs: Date.now };
/** What a timer holds; every task expires long before. */
const longestTimerMs = 2 ** 31 - 1;

/** All that a submission goes through, whatever door it came in by. */
export function openSubmit(parts: SubmitParts): Submitting {
  const submitAs = (step?: Chained['step']): Submit => awaitDecision((call) => submitOnce(parts, call, step), parts);
  return {
    submit: submitAs(),
    submitStep: submitSteps(submitAs),
    rehearse: rehearseCalls(parts.rehearsal, parts.redactor),
  };
}

/**
 * Through the gate, and once more where the gates had looked at what changed before the call was admitted: nothing was
 * charged then, and what is there now decides. Each time is a call of its own in the log. Whatever the call tells or asks
 * on its way, and its answer, leave without secrets.
 */
async function submitOnce(
  parts: SubmitParts,
  call: Submission,
  step: Chained['step'],
  isAgain = false,
): Promise<Answer> {
  const { gateway, running, redactor } = parts;
  const progress = call.onProgress && redactProgress(call.onProgress, redactor);
  const beginning = { callId: randomUUIDv7(), startedAtMs: Date.now(), toolName: call.toolName };
  const underWay = running.open(beginning, call.signal);
  const { cancellation } = underWay;
  // Whatever a door hands in, it cannot say that its call is a step of another.
  const governed = new Call(call, { ...beginning, cancellation, underWay, step });
  governed.onProgress = progress?.tell;
  if (call.askCaller !== undefined) governed.askCaller = redactQuestions(call.askCaller, redactor);
  try {
    const ending = await gateway.run(governed, context);
    if (isAgain || !isStale(ending) || call.signal.aborted) return answerCall(ending, redactor, Date.now());
  } finally {
    underWay.close();
    progress?.end();
  }
  // The first time may have added defaults to the value.
  return submitOnce(parts, { ...call, parsedInput: undefined }, step, true);
}

function isStale(ending: CallEnding): boolean {
  return ending.kind === 'refused' && ending.stage === 'admit-call' && ending.refusal.code === 'STANDING_CHANGED';
}

/**
 * Waits for a person outside the pipeline: the call ends as pending, and once somebody has decided it is submitted
 * again, through every gate. A caller who does not want to wait gets the task at once.
 */
export function awaitDecision(submit: Submit, { watch, store, running }: DecisionParts): Submit {
  return (call) => ((call.waitMs ?? 0) === 0 ? submit(call) : submitAndWait(call));

  async function submitAndWait(call: Submission): Promise<Answer> {
    const { waitMs = 0, signal } = call;
    const untilMs = performance.now() + (waitMs === untilDecided ? longestTimerMs : Math.min(waitMs, longestWaitMs));
    let answer = await submit(call);
    for (;;) {
      const taskId = pendingTaskOf(answer);
      const timeoutMs = Math.ceil(untilMs - performance.now());
      if (taskId === undefined || timeoutMs <= 0 || signal.aborted) return answer;
      call.onPending?.(taskId);
      const isOver = async (): Promise<boolean> => (await store.findApproval(taskId))?.status !== 'pending';
      const { callId, session, startedAtMs } = answer;
      const waiting = running.open({ callId, toolName: call.toolName, startedAtMs }, signal);
      if (session !== undefined) waiting.identify(session);
      try {
        if (!(await watch.awaitEnd(taskId, { timeoutMs, signal: waiting.cancellation.signal, isOver }))) {
          const { reason } = waiting.cancellation;
          // The task outlives the daemon. If somebody else ended the wait, another record names them.
          if (!(reason instanceof CallEnded) || reason.how === 'stop') return answer;
          return await submit({ ...call, parsedInput: undefined, signal: waiting.cancellation });
        }
      } finally {
        waiting.close();
      }
      // A call that was asked about under other rules is judged anew, from the text of its arguments.
      const approvalTaskId = (await isOver()) ? taskId : undefined;
      answer = await submit({ ...call, parsedInput: undefined, approvalTaskId });
    }
  }
}
