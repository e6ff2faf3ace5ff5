import { describeCode } from '@sallyport/contract';
import type { Code, Json } from '@sallyport/contract';
import { pendingTaskOf } from '../call/answer.ts';
import type { Answer } from '../call/answer.ts';
import type { Chained, ParentCall } from '../call/call.ts';
import { longestWaitMs } from '../call/submission.ts';
import type { Submission, Submit } from '../call/submission.ts';
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
  /** Called when the step waits for a person. */
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
 * Runs a step through the whole gate, with the current session of its parent. If a person must decide, it waits until
 * the signal aborts. It never rejects because of how the call ends. Only pipelines get this.
 */
export type SubmitStep = (call: StepCall) => Promise<StepEnding>;

/**
 * A pipeline's step comes in as the call of the session that called the pipeline. No credential comes with it, because
 * none is kept; the session is found by the parent, which only this door can name.
 */
export function submitSteps(submitAs: (step: Chained['step']) => Submit): SubmitStep {
  return async (call) => {
    const { id, parent, signal } = call;
    const submit = submitAs({ id, parent });
    let ended = readStep(await submit(beginStep(call)));
    // The pipeline's own time bounds how long it waits for a person.
    while (!ended.ok && ended.pendingTask !== undefined && !signal.aborted) {
      ended = readStep(await submit({ ...beginStep(call), approvalTaskId: ended.pendingTask }));
    }
    return ended;
  };
}

function beginStep({ parent, tool, input, signal, onProgress, onPending }: StepCall): Submission {
  const { door, source, taskId, correlationId } = parent;
  return {
    ...{ door, source, taskId, correlationId, toolName: tool, input, signal, onProgress, onPending },
    ...{ requestId: '', timeoutMs: 0, dedupeKey: '', confirmBinding: '', waitMs: longestWaitMs },
  };
}

function readStep(answer: Answer): StepEnding {
  const { callId, hasBegun, output, problem } = answer;
  if (output !== undefined) return { ok: true, callId, output: readOutput(output) };
  const {
    code = 'INTERNAL',
    message = describeCode('INTERNAL').meaning,
    ruleId,
    remedy = '',
    approval,
  } = problem ?? {};
  const failed = { ok: false, callId, code, message, hasBegun } as const;
  if (ruleId === undefined) return { ...failed, how: 'failed', remedy: '' };
  const pendingTask = pendingTaskOf(answer);
  if (pendingTask !== undefined) return { ...failed, how: 'refused', remedy, pendingTask };
  // A person who calls confirms their own calls, and here nobody can show them the effect of one.
  return { ...failed, how: 'refused', remedy: approval?.binding ? ownCallRemedy : remedy };
}

const ownCallRemedy = 'Call this step by itself, where you can look at its effect and confirm it.';

/** A result that is too large for an answer is named by its hash. */
function readOutput({ outputJson, kept }: NonNullable<Answer['output']>): Json {
  if (kept === undefined) return JSON.parse(outputJson) as Json;
  return { kept: { hash: kept.hash, size_bytes: kept.sizeBytes } };
}
