import { toJson } from '../text/yaml-node.ts';
import type { YamlNode } from '../text/yaml-node.ts';
import type { YamlReader } from '../text/yaml-reader.ts';
import type { NamedDescription } from '../registry/define-foreign-tool.ts';
import { parameterKeys, parameterTypes, schemaFromParameters } from '../registry/schemas/parameter-list.ts';
import type { ToolParameter } from '../registry/schemas/parameter-list.ts';
import { ForeignSchemaError, parseForeignSchema } from '../registry/schemas/parse-foreign-schema.ts';
import { isToolVersion } from '../registry/tool-name.ts';

type Schema = NamedDescription['inputSchema'];

/** How an entry says which arguments it takes. */
export interface InputFields {
  readonly parameters?: YamlNode;
  readonly input_schema?: YamlNode;
  /** Another name for it. */
  readonly args_schema?: YamlNode;
}

/** Absent: 1.0.0. */
export function readVersion(node: YamlNode | undefined, reader: YamlReader): string | undefined {
  if (node === undefined) return '1.0.0';
  const version = reader.readString(node, 'version');
  if (version === undefined || isToolVersion(version)) return version;
  return reader.note(node, 'version must be letters, digits, dots, "-" and "+", such as 1.2.0');
}

/** From the one of its keys that is there; none of them: no arguments. */
export function readInput(tool: YamlNode, fields: InputFields, reader: YamlReader): Schema | undefined {
  const { parameters, input_schema: inputSchema, args_schema: argsSchema } = fields;
  const given = Object.entries({ parameters, input_schema: inputSchema, args_schema: argsSchema })
    .filter(([, node]) => node !== undefined)
    .map(([key]) => key);
  if (given.length > 1) return reader.note(tool, `the tool has ${given.join(' and ')}; one of them says it all`);
  if (inputSchema !== undefined) return readSchema(inputSchema, 'input_schema', reader);
  if (argsSchema !== undefined) return readSchema(argsSchema, 'args_schema', reader);
  const list = parameters === undefined ? [] : reader.readList(parameters, 'parameters');
  const read = list?.map((item) => readParameter(item, reader));
  if (read === undefined || read.includes(undefined)) return undefined;
  try {
    return parseForeignSchema(schemaFromParameters(read as ToolParameter[]));
  } catch (error) {
    return reader.note(parameters ?? tool, error instanceof Error ? error.message : 'the parameters cannot be used');
  }
}

function readParameter(node: YamlNode, reader: YamlReader): ToolParameter | undefined {
  const fields = reader.readFields(node, 'the parameter', parameterKeys, ['name', 'type']);
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
    ...(fields.default === undefined ? {} : { default: toJson(fields.default) }),
  };
}

export function readSchema(node: YamlNode, what: string, reader: YamlReader): Schema | undefined {
  try {
    const schema = parseForeignSchema(toJson(node));
    const isObject = what === 'output_schema' || schema['type'] === 'object';
    return isObject ? schema : reader.note(node, `${what} must be of type object`);
  } catch (error) {
    if (!(error instanceof ForeignSchemaError)) throw error;
    return reader.note(node, `${what} cannot be used: ${error.message}`);
  }
}
