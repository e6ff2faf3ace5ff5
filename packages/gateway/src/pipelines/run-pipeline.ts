import { describeCode } from '@sallyport/contract';
import type { Code, Json, JsonObject } from '@sallyport/contract';
import { ToolFailure } from '../call/tool.ts';
import type { ToolContext } from '../call/tool.ts';
import { FillError, fillTemplate, lookUpIn } from './fill-template.ts';
import { mostNested } from './pipeline.ts';
import type { Pipeline, PipelineStep } from './pipeline.ts';
import type { FailedStep, StepEnding, SubmitStep } from './submit-step.ts';
import { referencesIn } from './template.ts';

/** How a step ended. */
export interface EndedStep {
  readonly id: string;
  /** Absent: it succeeded. */
  readonly code?: Code;
}

export interface PipelineRun {
  readonly output: Json;
  readonly ended: readonly EndedStep[];
}

/** The default limit of a call's arguments; the gate checks them again, by the rules in force. */
const mostFilled = 16 * 1024 * 1024;

/**
 * Runs the steps one after the other, each as a call of its own. Throws ToolFailure for the first that fails or is
 * refused and does not say `continue`; what the steps before it did remains.
 */
export async function runPipeline(
  pipeline: Pick<Pipeline, 'description' | 'steps' | 'output'>,
  input: JsonObject,
  context: ToolContext,
  submitStep: SubmitStep,
): Promise<PipelineRun> {
  const { steps, output } = pipeline;
  if (context.asParent.depth >= mostNested) {
    const message = `Pipelines are nested more than ${mostNested} deep.`;
    throw new ToolFailure('STEP_FAILED', message, { category: 'validation_failed' });
  }
  const isNeeded = neededSteps(pipeline);
  const results = new Map<string, Json | undefined>();
  const lookUp = lookUpIn({ input, steps: results });
  const ended: EndedStep[] = [];
  for (const [index, step] of steps.entries()) {
    const place: Place = { step, index, total: steps.length };
    if (context.signal.aborted) throw stopped(place, context.signal);
    report(place, context, 'begins');
    const ending = await callStep(place, lookUp, context, submitStep);
    // A step that was refused did nothing.
    if (ending.ok || ending.hasBegun) context.noteEffect();
    if (ending.ok) {
      results.set(step.id, isNeeded(step.id) ? ending.output : null);
      ended.push({ id: step.id });
      continue;
    }
    if (context.signal.aborted) throw stopped(place, context.signal, ending);
    if (!step.continues) throw failed(place, ending);
    report(place, context, `${ending.how}, goes on: ${ending.code}`);
    results.set(step.id, undefined);
    ended.push({ id: step.id, code: ending.code });
  }
  context.reportProgress({ kind: 'step', done: steps.length, total: steps.length, message: 'all steps have ended' });
  if (output === undefined) return { output: results.get(steps.at(-1)?.id ?? '') ?? null, ended };
  try {
    return { output: fillTemplate(output, lookUp, mostFilled), ended };
  } catch (error) {
    if (!(error instanceof FillError)) throw error;
    const message = `All steps have run, but the output cannot be put together: ${error.message}.`;
    throw new ToolFailure('STEP_FAILED', message, { category: 'validation_failed' });
  }
}

interface Place {
  readonly step: PipelineStep;
  readonly index: number;
  readonly total: number;
}

/** Only results that something refers to are kept: they can be large, and many pipelines run at once. */
function neededSteps({ steps, output }: Pick<Pipeline, 'steps' | 'output'>): (id: string) => boolean {
  const templates = [...steps.map((step) => step.arguments), ...(output === undefined ? [] : [output])];
  const needed = new Set(templates.flatMap(referencesIn).flatMap(({ step }) => step ?? []));
  if (output === undefined) needed.add(steps.at(-1)?.id ?? '');
  return (id) => needed.has(id);
}

async function callStep(
  place: Place,
  lookUp: ReturnType<typeof lookUpIn>,
  context: ToolContext,
  submitStep: SubmitStep,
): Promise<StepEnding> {
  const { id, tool, arguments: template } = place.step;
  let input: string;
  try {
    input = JSON.stringify(fillTemplate(template, lookUp, mostFilled));
  } catch (error) {
    if (!(error instanceof FillError)) throw error;
    const message = `its arguments cannot be put together: ${error.message}.`;
    return { ok: false, how: 'failed', code: 'INVALID_ARGUMENTS', message, remedy: '', hasBegun: false };
  }
  return submitStep({
    id,
    tool,
    input,
    parent: context.asParent,
    signal: context.signal,
    onProgress: (progress) => {
      if (progress.kind !== 'step') context.reportProgress(progress);
      else report(place, context, progress.message);
    },
    onPending: (taskId) => report(place, context, `waits for approval ${taskId}`),
  });
}

function report({ step, index, total }: Place, { reportProgress }: ToolContext, what: string): void {
  reportProgress({ kind: 'step', done: index, total, message: `${step.id} (${step.tool}): ${what}` });
}

function failed(place: Place, ending: FailedStep): ToolFailure {
  const { how, code, message, remedy, pendingTask } = ending;
  const why = pendingTask === undefined ? message : `Nobody has decided about approval ${pendingTask}.`;
  const advice = pendingTask === undefined ? remedy : 'Once somebody has approved it, call the pipeline again.';
  const did = place.index === 0 ? '' : 'What the steps before it did remains.';
  const said = [`Stopped at ${nameStep(place, ending)}: ${how}, ${code}: ${why}`, advice, did];
  // Not the code of the step: that a call may be repeated is true for the step, not for the whole pipeline.
  const { category } = describeCode(code);
  return new ToolFailure('STEP_FAILED', said.filter((text) => text !== '').join(' '), { category });
}

/** The caller cancelled the pipeline, the gate stopped it, or its time is up. */
function stopped(place: Place, { reason }: AbortSignal, ending?: FailedStep): ToolFailure {
  const { code, message } =
    reason instanceof ToolFailure ? reason : new ToolFailure('CANCELLED', 'The pipeline was cancelled.');
  const task = ending?.pendingTask;
  const waiting = task === undefined ? '' : `, which waited for approval ${task}`;
  return new ToolFailure(code, `${message} It was at ${nameStep(place, ending)}${waiting}.`);
}

function nameStep({ step, index, total }: Place, ending?: FailedStep): string {
  const call = ending?.callId === undefined ? '' : `, call ${ending.callId}`;
  return `step ${index + 1} of ${total}, ${step.id} (${step.tool}${call})`;
}
