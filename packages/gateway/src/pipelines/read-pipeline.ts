import type { Json, JsonObject } from '@sallyport/contract';
import { toJson } from '../text/yaml-node.ts';
import type { YamlNode } from '../text/yaml-node.ts';
import type { YamlReader } from '../text/yaml-reader.ts';
import { noRequests } from '../registry/tool-requests.ts';
import { isToolName, isToolVersion, nameRule } from '../registry/tool-name.ts';
import { readProperties, readToolName } from '../programs/read-assignment.ts';
import { readInput, readSchema, readVersion } from '../programs/read-schemas.ts';
import type { FindDefinition } from './define-pipeline.ts';
import { mostSteps } from './pipeline.ts';
import type { Pipeline, PipelineStep } from './pipeline.ts';
import { readTemplate } from './read-template.ts';
import type { Scope } from './read-template.ts';
import type { Template } from './template.ts';

const keys = [
  ...(['name', 'version', 'description', 'tags', 'parameters', 'input_schema', 'output_schema'] as const),
  ...(['steps', 'output', 'risk', 'confirmation', 'timeout_ms'] as const),
] as const;
const noArguments: Template = { kind: 'object', members: [] };
const idForm = /^[a-z][a-z0-9_-]{0,31}$/;

/** A step sees those before it. */
type GrowingScope = Scope & { readonly steps: Map<string, Json | undefined> };

/** Undefined after noting every problem with its place. */
export function readPipeline(node: YamlNode, reader: YamlReader, find: FindDefinition): Pipeline | undefined {
  const before = reader.problems.length;
  const fields = reader.readFields(node, 'the pipeline', keys, ['name', 'description', 'steps']);
  if (fields?.name === undefined || fields.steps === undefined || fields.description === undefined) return undefined;
  const name = readToolName(fields.name, 'name', reader);
  const description = reader.readString(fields.description, 'description', 10_000);
  const version = readVersion(fields.version, reader);
  const tags =
    fields.tags === undefined ? [] : reader.readItems(fields.tags, 'tags', (item) => reader.readString(item, 'tag'));
  const inputSchema = readInput(node, fields, reader);
  const outputSchema =
    fields.output_schema === undefined ? {} : readSchema(fields.output_schema, 'output_schema', reader);
  const assigned = readProperties(fields, reader);
  const scope = { inputSchema: inputSchema ?? {}, steps: new Map<string, Json | undefined>() };
  const steps = readSteps(fields.steps, scope, reader, find);
  // References to steps that could not be read would be reported as further mistakes.
  const output =
    fields.output === undefined || steps === undefined ? undefined : readTemplate(fields.output, scope, reader);
  // Everything was read, so that all problems are reported at once.
  const isWhole = reader.problems.length === before;
  if (!isWhole || !name || !description || !version || !tags || !inputSchema || !outputSchema || !steps)
    return undefined;
  return {
    description: { name, version, description, tags, inputSchema, outputSchema, requests: noRequests },
    steps,
    ...(output === undefined ? {} : { output }),
    assigned,
    source: {
      steps: toJson(fields.steps),
      ...(fields.output === undefined ? {} : { output: toJson(fields.output) }),
    },
    at: reader.locate(node),
  };
}

function readSteps(
  node: YamlNode,
  scope: GrowingScope,
  reader: YamlReader,
  find: FindDefinition,
): readonly PipelineStep[] | undefined {
  const items = reader.readList(node, 'steps');
  if (items === undefined) return undefined;
  if (items.length === 0) return reader.note(node, 'steps is empty; a pipeline has at least one');
  if (items.length > mostSteps) return reader.note(node, `a pipeline has at most ${mostSteps} steps`);
  const steps = items.map((item) => readStep(item, scope, reader, find));
  return steps.includes(undefined) ? undefined : (steps as PipelineStep[]);
}

/** Adds the step to the scope even if something is wrong with it, so that one mistake is reported once. */
function readStep(
  node: YamlNode,
  scope: GrowingScope,
  reader: YamlReader,
  find: FindDefinition,
): PipelineStep | undefined {
  const fields = reader.readFields(node, 'the step', ['id', 'tool', 'arguments', 'continue'], ['id', 'tool']);
  if (fields?.id === undefined || fields.tool === undefined) return undefined;
  const id = readId(fields.id, scope, reader);
  const tool = readReferredTool(fields.tool, reader);
  const continues = fields.continue === undefined ? false : reader.readBoolean(fields.continue, 'continue');
  const { arguments: args } = fields;
  const template = args === undefined ? noArguments : readStepArguments(args, scope, reader);
  if (id !== undefined) scope.steps.set(id, tool === undefined ? undefined : find(tool)?.outputSchema);
  if (id === undefined || tool === undefined || continues === undefined || template === undefined) return undefined;
  const shownArguments = (args ? toJson(args) : {}) as JsonObject;
  return { id, tool, arguments: template, shownArguments, continues };
}

function readStepArguments(node: YamlNode, scope: Scope, reader: YamlReader): Template | undefined {
  if (node.kind === 'map') return readTemplate(node, scope, reader);
  return reader.note(node, 'arguments must be a mapping, such as { path: a.txt }');
}

function readId(node: YamlNode, { steps }: Scope, reader: YamlReader): string | undefined {
  const id = reader.readString(node, 'id');
  if (id === undefined) return undefined;
  if (!idForm.test(id)) return reader.note(node, 'id must be up to 32 small letters, digits, "_" and "-"');
  return steps.has(id) ? reader.note(node, `another step already has the id ${id}`) : id;
}

/** A name, or one with a version. Whether there is such a tool is known when the step is called. */
function readReferredTool(node: YamlNode, reader: YamlReader): string | undefined {
  const text = reader.readString(node, 'tool');
  if (text === undefined) return undefined;
  const [name = '', version, ...more] = text.split('@');
  const isReference = isToolName(name) && (version === undefined || isToolVersion(version)) && more.length === 0;
  return isReference ? text : reader.note(node, `tool must be ${nameRule}, and may end in "@" and a version`);
}
