import type { Json, JsonObject } from '@sallyport/contract';
import type { Position } from '../text/source-file.ts';
import type { AssignedProperties, NamedDescription } from '../registry/define-foreign-tool.ts';
import type { Template } from './template.ts';

/** Tools in a row, as a file lists them: the result of one can be an argument of the next. */
export interface Pipeline {
  readonly description: NamedDescription;
  /** At least one. */
  readonly steps: readonly PipelineStep[];
  /** Absent: what the last step returned. */
  readonly output?: Template;
  /** What an operator assigned to it. It cannot be below the risk of its steps. */
  readonly assigned: Pick<AssignedProperties, 'risk' | 'confirmation' | 'timeoutMs'>;
  /** Steps and output as they are written, for people and for the pin. */
  readonly source: { readonly steps: Json; readonly output?: Json };
  readonly at: Position;
}

export interface PipelineStep {
  readonly id: string;
  /** As it is called: a name, or `name@version`. */
  readonly tool: string;
  /** An object. */
  readonly arguments: Template;
  /** As written. */
  readonly shownArguments: JsonObject;
  /** Whether the pipeline continues when the step fails or is refused. */
  readonly continues: boolean;
}

export const mostSteps = 32;
/** A pipeline in a pipeline, and so on. */
export const mostNested = 4;
