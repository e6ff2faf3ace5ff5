import { hash } from 'node:crypto';
import type { Json, JsonObject } from '@sallyport/contract';
import { canonicalJson, makeVisible, spellCount } from '@sallyport/contract';
import type { AnyTool, Effect, ToolDefinition } from '../call/tool.ts';
import { detailOf } from '../registry/define-foreign-tool.ts';
import { hashDefinition } from '../registry/hash-definition.ts';
import type { ToolOffer } from '../programs/tool-offer.ts';
import { definePipeline } from './define-pipeline.ts';
import type { FindDefinition } from './define-pipeline.ts';
import { FillError, fillTemplate, lookUpIn } from './fill-template.ts';
import type { LookUp } from './fill-template.ts';
import type { Pipeline, PipelineStep } from './pipeline.ts';
import { runPipeline } from './run-pipeline.ts';
import type { EndedStep } from './run-pipeline.ts';
import type { SubmitStep } from './submit-step.ts';

export interface PipelineParts {
  readonly find: FindDefinition;
  readonly submitStep: SubmitStep;
}

/** How much of each step is shown to the person who decides. */
const mostShown = 64 * 1024;

export function offerPipeline(pipeline: Pipeline, file: string, parts: PipelineParts): ToolOffer {
  const definition = definePipeline(pipeline, parts.find);
  const { asks_for: _, ...shown } = detailOf(pipeline.description);
  const detail: JsonObject = { ...shown, ...pipeline.source };
  return {
    origin: 'pipeline',
    file,
    tool: pipelineTool(pipeline, definition, parts.submitStep),
    // It has no bytes of its own; its text in the file takes their place.
    fileSha256: hash('sha256', canonicalJson(detail)),
    definitionSha256: hashDefinition(definition),
    detail,
  };
}

/** The pipeline itself touches nothing; each step is judged when it is called. */
export function pipelineTool(pipeline: Pipeline, definition: ToolDefinition, submitStep: SubmitStep): AnyTool {
  // The summary of a success is made apart from the run; the arguments of a call stay the same object throughout.
  const ends = new WeakMap<JsonObject, readonly EndedStep[]>();
  return {
    definition,
    claim: () => ({ paths: [] }),
    preview: (args) => Promise.resolve(previewSteps(pipeline, definition, args)),
    run: async (args, context) => {
      const { output, ended } = await runPipeline(pipeline, args, context, submitStep);
      ends.set(args, ended);
      return output;
    },
    summarize: (args) => summarize(ends.get(args) ?? pipeline.steps),
  };
}

function summarize(ended: readonly EndedStep[]): string {
  const steps = ended.map(({ id, code }) => (code === undefined ? `${id} ok` : `${id} not (${code})`));
  return `${spellCount(ended.length, 'step')}: ${steps.join(', ')}`;
}

function previewSteps({ steps }: Pipeline, definition: ToolDefinition, args: JsonObject): Effect {
  const { name, version, secretArguments = [] } = definition;
  const lookUpInput = lookUpIn({ input: args, steps: new Map() });
  // References whose value is unknown or secret are shown as they are written.
  const lookUp: LookUp = (reference) => {
    const {
      text,
      step,
      path: [first],
    } = reference;
    const isSecret = first === undefined ? secretArguments.length > 0 : secretArguments.includes(first);
    return step !== undefined || isSecret ? text : lookUpInput(reference);
  };
  const given = Object.entries(args).filter(([argument]) => !secretArguments.includes(argument));
  const whole = JSON.stringify(Object.fromEntries(given));
  const lines = steps.map((step, at) => `${at + 1}. ${step.id}: ${step.tool} ${showArguments(step, lookUp, whole)}`);
  const rest = ['Each step is judged by itself when it runs, and asks a person if it must.'];
  const detail = [...lines, ...rest].map((line) => `${makeVisible(line)}\n`).join('');
  return {
    summary: `Run the pipeline ${name} ${version}, ${spellCount(steps.length, 'step')}.`,
    detail,
    undoable: false,
  };
}

/** If the arguments of a step would be too long, the template is shown instead. */
function showArguments(
  { arguments: template, shownArguments, continues }: PipelineStep,
  lookUp: LookUp,
  whole: string,
): string {
  const goesOn = continues ? ' (the pipeline continues if this fails)' : '';
  const show = (value: Json): string => `${JSON.stringify(value)}${goesOn}`;
  try {
    return show(fillTemplate(template, lookUp, mostShown));
  } catch (error) {
    if (!(error instanceof FillError)) throw error;
    return `${show(shownArguments)}: ${error.message} The arguments of the pipeline are ${whole}`;
  }
}
