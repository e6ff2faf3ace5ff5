import type { Node } from 'yaml';
import type { Json } from '@sallyport/contract';
import type { Fields, YamlReader } from '../../governance/yaml-reader.ts';
import type { AssignedProperties, NamedDescription } from '../../registry/define-foreign-tool.ts';
import { schemaFromParameters } from '../../registry/parameter-list.ts';
import type { ToolParameter } from '../../registry/parameter-list.ts';
import { ForeignSchemaError, parseForeignSchema } from '../../registry/parse-foreign-schema.ts';
import { noRequests } from '../../registry/tool-description.ts';
import { isToolVersion } from '../../registry/tool-name.ts';
import { parseTemplateWord, placesOf } from './command-template.ts';
import type { TemplateWord } from './command-template.ts';
import { propertyKeys, readAssignment, readProperties, readToolName } from './read-assignment.ts';
import type { Assignment } from './read-assignment.ts';

/** A tool that stands in a file: a command, and what goes into it. */
export interface ConfiguredTool {
  readonly description: NamedDescription;
  /** Absolute, or a name in the folders of the system. */
  readonly program: string;
  readonly words: readonly TemplateWord[];
  /** Whether the arguments also go to the program as JSON. */
  readonly stdin: 'none' | 'json';
  readonly stdout: 'text' | 'json';
  readonly assigned: AssignedProperties;
  /** As it stands in the file, for people. */
  readonly command: readonly string[];
}

export interface ToolFileContents {
  readonly tools: readonly ConfiguredTool[];
  readonly assignments: readonly Assignment[];
}

const toolKeys = [
  'name',
  'version',
  'description',
  'tags',
  'command',
  'parameters',
  'input_schema',
  'output_schema',
  'stdin',
  'stdout',
  ...propertyKeys,
] as const;
type ToolFields = Fields<(typeof toolKeys)[number]>;

const parameterTypes = ['string', 'number', 'boolean', 'object', 'array'] as const;

/** Notes every problem with its place; what has one is left out. */
export function readConfiguredTools(root: Node, reader: YamlReader): ToolFileContents {
  const fields = reader.readFields(root, 'the file', ['tools', 'assign'], []);
  const read = <T>(node: Node | undefined, what: string, readItem: (item: Node) => T | undefined): readonly T[] =>
    (node === undefined ? [] : (reader.readList(node, what) ?? [])).flatMap((item) => readItem(item) ?? []);
  return {
    tools: read(fields?.tools, 'tools', (item) => readTool(item, reader)),
    assignments: read(fields?.assign, 'assign', (item) => readAssignment(item, reader)),
  };
}

function readTool(node: Node, reader: YamlReader): ConfiguredTool | undefined {
  const before = reader.problems.length;
  const fields = reader.readFields(node, 'the tool', toolKeys, ['name', 'description', 'command']);
  if (fields?.name === undefined || fields.command === undefined || fields.description === undefined) return undefined;
  const name = readToolName(fields.name, 'name', reader);
  const command = reader.readItems(fields.command, 'command', (item) => reader.readString(item, 'a word', 4096));
  const inputSchema = readInput(node, fields, reader);
  const stdout = fields.stdout === undefined ? 'text' : reader.readOneOf(fields.stdout, 'stdout', ['text', 'json']);
  const stdin = fields.stdin === undefined ? 'none' : reader.readOneOf(fields.stdin, 'stdin', ['none', 'json']);
  const outputSchema = readOutput(fields, stdout ?? 'text', reader);
  const description = reader.readString(fields.description, 'description', 10_000);
  const version = readVersion(fields.version, reader);
  const tags =
    fields.tags === undefined ? [] : reader.readItems(fields.tags, 'tags', (item) => reader.readString(item, 'tag'));
  const assigned = readProperties(fields, reader);
  const [program, ...rest] = command ?? [];
  if (program !== undefined && inputSchema !== undefined)
    checkWords(fields.command, program, rest, inputSchema, reader);
  // Everything was looked at, so that all problems are told at once.
  const isWhole = reader.problems.length === before;
  if (!isWhole || !name || !program || !inputSchema || !stdout || !stdin || !outputSchema || !description || !tags)
    return undefined;
  return {
    description: { name, version: version ?? '', description, tags, inputSchema, outputSchema, requests: noRequests },
    program,
    words: rest.map(parseTemplateWord),
    stdin,
    stdout,
    assigned,
    command: [program, ...rest],
  };
}

function readVersion(node: Node | undefined, reader: YamlReader): string | undefined {
  if (node === undefined) return '1.0.0';
  const version = reader.readString(node, 'version');
  if (version === undefined || isToolVersion(version)) return version;
  return reader.note(node, 'version must be letters, digits, dots, "-" and "+", such as 1.2.0');
}

function readInput(
  tool: Node,
  fields: ToolFields,
  reader: YamlReader,
): ConfiguredTool['description']['inputSchema'] | undefined {
  const { input_schema: schema, parameters } = fields;
  if (schema !== undefined && parameters !== undefined) {
    return reader.note(tool, 'the tool has both parameters and input_schema; one of them says it all');
  }
  if (schema !== undefined) return readSchema(schema, 'input_schema', reader);
  const list = parameters === undefined ? [] : reader.readList(parameters, 'parameters');
  const read = list?.map((item) => readParameter(item, reader));
  if (read === undefined || read.includes(undefined)) return undefined;
  try {
    return parseForeignSchema(schemaFromParameters(read as ToolParameter[]));
  } catch (error) {
    return reader.note(parameters ?? tool, error instanceof Error ? error.message : 'the parameters cannot be used');
  }
}

function readParameter(node: Node, reader: YamlReader): ToolParameter | undefined {
  const keys = ['name', 'type', 'description', 'required', 'default'] as const;
  const fields = reader.readFields(node, 'the parameter', keys, ['name', 'type']);
  if (fields?.name === undefined || fields.type === undefined) return undefined;
  const name = reader.readString(fields.name, 'name', 200);
  const type = reader.readOneOf(fields.type, 'type', parameterTypes);
  const description =
    fields.description === undefined ? '' : reader.readString(fields.description, 'description', 10_000);
  const required = fields.required === undefined ? undefined : reader.readBoolean(fields.required, 'required');
  if (name === undefined || type === undefined || description === undefined) return undefined;
  return {
    name,
    type,
    description,
    ...(required === undefined ? {} : { required }),
    ...(fields.default === undefined ? {} : { default: fields.default.toJSON() as Json }),
  };
}

function readOutput(fields: ToolFields, stdout: 'text' | 'json', reader: YamlReader) {
  const { output_schema: schema } = fields;
  if (stdout === 'json') return schema === undefined ? {} : readSchema(schema, 'output_schema', reader);
  if (schema !== undefined) return reader.note(schema, 'output_schema needs stdout: json');
  return { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false };
}

function readSchema(node: Node, what: string, reader: YamlReader) {
  try {
    const schema = parseForeignSchema(node.toJSON() as Json);
    const isObject = what !== 'input_schema' || schema['type'] === 'object';
    return isObject ? schema : reader.note(node, `${what} must be of type object`);
  } catch (error) {
    if (!(error instanceof ForeignSchemaError)) throw error;
    return reader.note(node, `${what} cannot be used: ${error.message}`);
  }
}

function checkWords(
  node: Node,
  program: string,
  words: readonly string[],
  inputSchema: ConfiguredTool['description']['inputSchema'],
  reader: YamlReader,
): void {
  if (program.includes('{{')) reader.note(node, 'the program itself cannot depend on an argument');
  if (program.includes('/') && !program.startsWith('/')) {
    reader.note(node, 'the program must be an absolute path, or a name in /usr/bin or /bin');
  }
  const known = Object.keys((inputSchema['properties'] as object | undefined) ?? {});
  for (const place of words.flatMap((word) => placesOf(parseTemplateWord(word)))) {
    if (!known.includes(place)) reader.note(node, `{{${place}}} is no argument of the tool; use ${known.join(', ')}`);
  }
}
