import type { Json, JsonObject } from '@sallyport/contract';
import { isJsonObject, wholeText } from '@sallyport/contract';
import { ConfigError } from '../call/fault.ts';
import type { ShownDefinition } from './shown-definitions.ts';

/** The schema of arguments, which are always an object. */
export type ObjectSchema = JsonObject & { readonly type: 'object' };

export interface OpenAiTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: ObjectSchema;
    /** Absent: the model is free to leave optional arguments out. */
    readonly strict?: true;
  };
}

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

export interface McpTool {
  readonly name: string;
  /** The canonical name, for people. */
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** Absent when the tool does not promise an object, which is all that the protocol can say. */
  readonly outputSchema?: JsonObject;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** Tools as a model or client takes them, and the way back from the name it then calls. */
export interface ExportedTools<Shape> {
  readonly tools: readonly Shape[];
  /** Canonical names by exported name. */
  readonly canonicalNames: ReadonlyMap<string, string>;
}

export function exportForOpenAi(definitions: readonly ShownDefinition[]): ExportedTools<OpenAiTool> {
  return exportEach(definitions, (name, { description, inputSchema }) => {
    const parameters = widenRoot(inputSchema);
    const strict = isStrict(inputSchema) ? { strict: true as const } : {};
    return { type: 'function', function: { name, description, parameters, ...strict } };
  });
}

export function exportForAnthropic(definitions: readonly ShownDefinition[]): ExportedTools<AnthropicTool> {
  return exportEach(definitions, (name, { description, inputSchema }) => {
    return { name, description, input_schema: widenRoot(inputSchema) };
  });
}

export function exportForMcp(definitions: readonly ShownDefinition[]): ExportedTools<McpTool> {
  return exportEach(definitions, (name, definition) => ({
    name,
    title: definition.name,
    description: definition.description,
    inputSchema: widenRoot(definition.inputSchema),
    ...(definition.outputSchema['type'] === 'object' ? { outputSchema: definition.outputSchema } : {}),
    annotations: {
      readOnlyHint: !definition.mutates,
      // A definition does not say that a change only adds. Low risk is as near as it comes.
      destructiveHint: definition.mutates && definition.risk !== 'low',
      idempotentHint: definition.idempotent,
      // Commands and applications reach whatever they reach.
      openWorldHint: definition.scopes.some((scope) => scope !== 'paths'),
    },
  }));
}

export const exportFormats = ['openai', 'anthropic', 'mcp'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const exporters = { openai: exportForOpenAi, anthropic: exportForAnthropic, mcp: exportForMcp } as const;

/** A tool whose name models would not take, or that would have the name of another, is left out, alone. */
export function exportUsable(
  definitions: readonly ShownDefinition[],
  format: ExportFormat,
): ExportedTools<OpenAiTool | AnthropicTool | McpTool> {
  const names = Map.groupBy(definitions, exportedNameOf);
  return exporters[format](
    definitions.filter((definition) => {
      const name = exportedNameOf(definition);
      return exportedName.test(name) && names.get(name)?.length === 1;
    }),
  );
}

function exportedNameOf({ name }: ShownDefinition): string {
  return name.replaceAll('.', '_');
}

/** What all models and clients accept. Many refuse dots, MCP clients among them. */
const exportedName = /^[A-Za-z0-9_-]{1,64}$/;

function exportEach<Shape>(
  definitions: readonly ShownDefinition[],
  shape: (name: string, definition: ShownDefinition) => Shape,
): ExportedTools<Shape> {
  const canonicalNames = new Map<string, string>();
  const tools = definitions.map((definition) => {
    const name = exportedNameOf(definition);
    if (!exportedName.test(name)) {
      throw new ConfigError(
        `The tool ${JSON.stringify(wholeText(definition.name))} has a name that models do not accept.`,
        'Use up to 64 letters, digits, dots, dashes and underscores.',
      );
    }
    const taken = canonicalNames.get(name);
    if (taken !== undefined) {
      throw new ConfigError(`The tools ${taken} and ${definition.name} would both be called ${name}.`, 'Rename one.');
    }
    canonicalNames.set(name, definition.name);
    return shape(name, definition);
  });
  return { tools, canonicalNames };
}

const refusedAtRoot = new Set(['oneOf', 'anyOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else']);

/** An object without conditions at the top, where models refuse them. Only wider: the gate checks the whole schema. */
function widenRoot(schema: JsonObject): ObjectSchema {
  const kept = Object.entries(schema).filter(([keyword]) => !refusedAtRoot.has(keyword));
  return { ...Object.fromEntries(kept), type: 'object' };
}

const strictKeywords = new Set([
  'type',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
]);

/** Whether OpenAI's strict mode can hold the model to the schema: closed objects, nothing optional, plain keywords. */
function isStrict(schema: Json | undefined): boolean {
  if (!isJsonObject(schema) || !Object.keys(schema).every((keyword) => strictKeywords.has(keyword))) return false;
  if (schema['type'] === 'array') return isStrict(schema['items']);
  if (schema['type'] !== 'object') return typeof schema['type'] === 'string';
  const { properties, required, additionalProperties } = schema;
  if (!isJsonObject(properties) || !Array.isArray(required) || additionalProperties !== false) return false;
  return Object.entries(properties).every(([name, property]) => required.includes(name) && isStrict(property));
}
