import { toJson } from '../../text/yaml-node.ts';
import type { YamlNode } from '../../text/yaml-node.ts';
import type { Fields, YamlReader } from '../../text/yaml-reader.ts';
import type { AssignedProperties, NamedDescription } from '../../registry/define-foreign-tool.ts';
import { DescriptionError } from '../../registry/description-fields.ts';
import { nameUnknown } from '../../registry/tool-description.ts';
import { noRequests, readRequests } from '../../registry/tool-requests.ts';
import type { ToolRequests } from '../../registry/tool-requests.ts';
import type { FindDefinition } from '../../pipelines/define-pipeline.ts';
import type { Pipeline } from '../../pipelines/pipeline.ts';
import { readPipeline } from '../../pipelines/read-pipeline.ts';
import { parseTemplateWord, placesOf } from './command-template.ts';
import type { TemplateWord } from './command-template.ts';
import { propertyKeys, readAssignment, readProperties, readToolName } from '../read-assignment.ts';
import type { Assignment } from '../read-assignment.ts';
import { readInput, readSchema, readVersion } from '../read-schemas.ts';

/** A tool that a file declares: a command, and what goes into it. */
export interface ConfiguredTool {
  readonly description: NamedDescription;
  /** Absolute, or a name in the folders of the system. */
  readonly program: string;
  readonly words: readonly TemplateWord[];
  /** Whether the arguments also go to the program as JSON. */
  readonly stdin: 'none' | 'json';
  readonly stdout: 'text' | 'json';
  readonly assigned: AssignedProperties;
  /** As the file has it, for people. */
  readonly command: readonly string[];
}

export interface ToolFileContents {
  readonly tools: readonly ConfiguredTool[];
  readonly pipelines: readonly Pipeline[];
  readonly assignments: readonly Assignment[];
}

const toolKeys = [
  'name',
  'version',
  'description',
  'tags',
  'category',
  'command',
  'parameters',
  'input_schema',
  'args_schema',
  'output_schema',
  'stdin',
  'stdout',
  'scopes',
  ...propertyKeys,
] as const;
type ToolFields = Fields<(typeof toolKeys)[number]>;

/** Notes every problem with its place; what has one is left out. */
export function readConfiguredTools(root: YamlNode, reader: YamlReader, find: FindDefinition): ToolFileContents {
  const fields = reader.readFields(root, 'the file', ['tools', 'pipelines', 'assign'], []);
  const read = <T>(
    node: YamlNode | undefined,
    what: string,
    readItem: (item: YamlNode) => T | undefined,
  ): readonly T[] =>
    (node === undefined ? [] : (reader.readList(node, what) ?? [])).flatMap((item) => readItem(item) ?? []);
  return {
    tools: read(fields?.tools, 'tools', (item) => readTool(item, reader)),
    pipelines: read(fields?.pipelines, 'pipelines', (item) => readPipeline(item, reader, find)),
    assignments: read(fields?.assign, 'assign', (item) => readAssignment(item, reader)),
  };
}

function readTool(node: YamlNode, reader: YamlReader): ConfiguredTool | undefined {
  const before = reader.problems.length;
  const unknown: string[] = [];
  const required = ['name', 'description', 'command'] as const;
  const fields = reader.readFields(node, 'the tool', toolKeys, required, unknown);
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
  const category = fields.category && reader.readString(fields.category, 'category');
  const assigned = readProperties(fields, reader);
  const requests = fields.scopes === undefined ? noRequests : readScopes(fields.scopes, reader);
  const [program, ...rest] = command ?? [];
  if (program !== undefined && inputSchema !== undefined)
    checkWords(fields.command, program, rest, inputSchema, reader);
  // Everything was looked at, so that all problems are told at once.
  const isWhole = reader.problems.length === before;
  if (!isWhole || !name || !program || !inputSchema || !stdout || !stdin || !outputSchema || !description || !tags)
    return undefined;
  return {
    description: {
      ...{ name, version: version ?? '', description, tags, inputSchema, outputSchema },
      requests: requests ?? noRequests,
      ...(category === undefined ? {} : { category }),
      ...(unknown.length === 0 ? {} : { unknownKeys: nameUnknown(unknown) }),
    },
    program,
    words: rest.map(parseTemplateWord),
    stdin,
    stdout,
    assigned,
    command: [program, ...rest],
  };
}

function readScopes(node: YamlNode, reader: YamlReader): ToolRequests | undefined {
  try {
    return readRequests({ scopes: toJson(node) });
  } catch (error) {
    if (!(error instanceof DescriptionError)) throw error;
    return reader.note(node, error.message);
  }
}

function readOutput(fields: ToolFields, stdout: 'text' | 'json', reader: YamlReader) {
  const { output_schema: schema } = fields;
  if (stdout === 'json') return schema === undefined ? {} : readSchema(schema, 'output_schema', reader);
  if (schema !== undefined) return reader.note(schema, 'output_schema needs stdout: json');
  return { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false };
}

function checkWords(
  node: YamlNode,
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
    if (!known.includes(place))
      reader.note(node, `{{${place}}} is not an argument of the tool; use ${known.join(', ')}`);
  }
}
