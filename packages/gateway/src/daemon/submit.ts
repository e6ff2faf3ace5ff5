import { randomUUIDv7 } from 'node:crypto';
import { canonicalJson, describeCode } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type { ApprovalWatch } from '../approvals/approval-watch.ts';
import { bindEffect, callSha256 } from '../approvals/bind-call.ts';
import { maskSecrets } from '../approvals/mask-secrets.ts';
import type { Rehearse, Rehearsed } from '../approvals/rehearsal.ts';
import { showArguments } from '../approvals/show-arguments.ts';
import { pendingTaskOf } from '../call/answer.ts';
import type { Answer } from '../call/answer.ts';
import { CallEnded } from '../call/call-ended.ts';
import { Call } from '../call/call.ts';
import type { ArgumentsChecked, Chained, Resolved } from '../call/call.ts';
import { follow } from '../call/cancellation.ts';
import { Fault } from '../call/fault.ts';
import { longestWaitMs, untilDecided } from '../call/submission.ts';
import type { Submission, Submit } from '../call/submission.ts';
import type { RunningCalls } from '../calls/running-calls.ts';
import type { Gateway, Rehearsal } from '../gateway.ts';
import type { CallEnding } from '../call/stage.ts';
import type { StepCall, StepEnding, SubmitStep } from '../pipelines/submit-step.ts';
import { redactProgress, redactQuestions } from '../redaction/redact-progress.ts';
import { redactRefusal } from '../redaction/redact-refusal.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { ApprovalRepository } from '../storage/stores.ts';
import { answerCall } from './answer-call.ts';

export interface SubmitParts extends DecisionParts {
  readonly gateway: Gateway;
  readonly rehearsal: Rehearsal;
  readonly redactor: Redactor;
}

export interface DecisionParts {
  readonly watch: ApprovalWatch;
  readonly store: Pick<ApprovalRepository, 'findApproval'>;
  readonly running: Pick<RunningCalls, 'open' | 'identify'>;
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
  return { submit: submitAs(), submitStep: submitSteps(submitAs), rehearse: rehearseCalls(parts) };
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
  const { cancellation, close } = running.open(beginning, call.signal);
  // Whatever a door hands in, it cannot say that its call is a step of another.
  const governed = new Call(call, { ...beginning, cancellation, step });
  governed.onProgress = progress?.tell;
  if (call.askCaller !== undefined) governed.askCaller = redactQuestions(call.askCaller, redactor);
  try {
    const ending = await gateway.run(governed, context);
    if (isAgain || !isStale(ending) || call.signal.aborted) return answerCall(ending, redactor, Date.now());
  } finally {
    close();
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
      if (session !== undefined) running.identify(callId, session);
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

/**
 * A pipeline's step comes in as the call of the session that called the pipeline. No credential comes with it, because
 * none is kept; the session is found by the parent, which only this door can name.
 */
function submitSteps(submitAs: (step: Chained['step']) => Submit): SubmitStep {
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

/** Sends planned calls through the gates as if they had just come in from a caller who is known. */
function rehearseCalls({ rehearsal, redactor }: SubmitParts): Rehearse {
  return async (session, { tool, arguments: args }, signal, before = []) => {
    const planned = new Call(
      {
        door: session.door ?? 'agent-socket',
        source: 'plan',
        toolName: tool,
        input: canonicalJson(args),
        requestId: '',
        timeoutMs: 0,
        dedupeKey: '',
        taskId: '',
        correlationId: '',
        confirmBinding: '',
      },
      { callId: randomUUIDv7(), startedAtMs: Date.now(), cancellation: follow(signal) },
    );
    const begun = Object.assign(planned, {
      session,
      traceId: '',
      // Nothing is admitted.
      basedOn: 0,
      foreseen: before.map((name) => ({ tool: name, startedAtMs: Date.now() })),
    });
    const ending = await rehearsal.run(begun, context);
    if (ending.kind === 'faulted') throw new Fault('INTERNAL', `${ending.stage} failed`, { cause: ending.fault });
    if (ending.kind === 'refused') return redactRefusal(ending.refusal, ending.call, redactor);
    const { tool: found, arguments: checked, effect, verdict } = ending.call;
    const { name, risk } = found.definition;
    const { texts, masked, values } = maskSecrets([effect.summary, effect.detail], redactor);
    const [summary = '', detail = ''] = texts;
    return {
      tool: name,
      callSha256: callSha256(found.definition, checked.sha256),
      shownArguments: showArguments(ending.call, redactor),
      risk,
      effect: { summary, detail, undoable: effect.undoable },
      boundSha256: bindEffect(effect),
      askedBy: verdict.askedBy ?? [],
      ...describeReach(ending.call),
      masked,
      secrets: values,
    };
  };
}

/** Programs, and tools that name no paths, may change anything. */
function describeReach({ tool, resources }: Resolved & ArgumentsChecked): Pick<Rehearsed, 'changes' | 'dependsOn'> {
  const { mutates } = tool.definition;
  const { paths, commands = [] } = resources;
  const isOpen = paths.length === 0 || commands.length > 0;
  const changed = paths.filter(({ access }) => access === 'write').map(({ path }) => path);
  return {
    changes: !mutates ? [] : isOpen ? undefined : changed,
    dependsOn: isOpen ? undefined : paths.map(({ path }) => path),
  };
}
