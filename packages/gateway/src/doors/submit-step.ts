import { describeCode } from '@sallyport/contract';
import type { Code, Json } from '@sallyport/contract';
import { mayHaveBegun } from '../closers/may-have-begun.ts';
import type { RedactedEnding } from './redact-ending.ts';
import type { Chained } from '../call/call.ts';
import type { FailedStep, StepCall, StepEnding, SubmitStep } from '../pipelines/submit-step.ts';
import { longestWaitMs } from './await-decision.ts';
import type { Submission, Submit } from './await-decision.ts';
import { presentEnding } from './present-ending.ts';

/**
 * The door inside the gate: a pipeline's step comes in as the call of the session that called the pipeline. No
 * credential comes with it, because none is kept; the session is found by the parent, which only this door can name.
 */
export function submitSteps(submitAs: (step: NonNullable<Chained['step']>) => Submit): SubmitStep {
  return async (call) => {
    const { id, parent, signal } = call;
    const submit = submitAs({ id, parent });
    let ended = readEnding(await submit(beginStep(call)));
    // The pipeline's own time bounds how long it waits for a person.
    while (!ended.ok && ended.pendingTask !== undefined && !signal.aborted) {
      ended = readEnding(await submit({ ...beginStep(call), approvalTaskId: ended.pendingTask }));
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

function readEnding(ending: RedactedEnding): StepEnding {
  const { callId, result } = presentEnding(ending, Date.now());
  const hasBegun = mayHaveBegun(ending);
  switch (result.case) {
    case 'success': {
      const { outputJson } = result.value;
      return { ok: true, callId, output: keptOf(ending) ?? (JSON.parse(outputJson) as Json) };
    }
    case 'denied': {
      const { rationaleCode, message, remedy, approval } = result.value;
      const code = rationaleCode as Code;
      const refused: FailedStep = { ok: false, callId, how: 'refused', code, message, remedy, hasBegun };
      if (approval?.status === 'pending') return { ...refused, pendingTask: approval.taskId };
      // A person who calls confirms their own calls, and here nobody can show them the effect of one.
      return approval?.binding ? { ...refused, remedy: ownCallRemedy } : refused;
    }
    default: {
      const { code = 'INTERNAL', message = describeCode('INTERNAL').meaning } = result.value ?? {};
      return { ok: false, callId, how: 'failed', code: code as Code, message, remedy: '', hasBegun };
    }
  }
}

const ownCallRemedy = 'Call this step by itself, where you can look at its effect and confirm it.';

/** A result that is too large for an answer is named by its hash. */
function keptOf(ending: RedactedEnding): Json | undefined {
  const kept = ending.kind === 'completed' && ending.call.outcome.ok ? ending.call.outcome.kept : undefined;
  return kept && { kept: { hash: kept.hash, size_bytes: kept.sizeBytes } };
}
