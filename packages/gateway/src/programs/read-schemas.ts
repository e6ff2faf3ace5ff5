import { toJson } from '../text/yaml-node.ts';
import type { YamlNode } from '../text/yaml-node.ts';
import type { YamlReader } from '../text/yaml-reader.ts';
import type { NamedDescription } from '../registry/define-foreign-tool.ts';
import { schemaFromParameters } from '../registry/schemas/parameter-list.ts';
import type { ToolParameter } from '../registry/schemas/parameter-list.ts';
import { ForeignSchemaError, parseForeignSchema } from '../registry/schemas/parse-foreign-schema.ts';
import { isToolVersion } from '../registry/tool-name.ts';

type Schema = NamedDescription['inputSchema'];

/** How an entry says which arguments it takes. */
export interface InputFields {
  readonly parameters?: YamlNode;
  readonly input_schema?: YamlNode;
}

const parameterTypes = ['string', 'number', 'boolean', 'object', 'array'] as const;

/** Absent: 1.0.0. */
export function readVersion(node: YamlNode | undefined, reader: YamlReader): string | undefined {
  if (node === undefined) return '1.0.0';
  const version = reader.readString(node, 'version');
  if (version === undefined || isToolVersion(version)) return version;
  return reader.note(node, 'version must be letters, digits, dots, "-" and "+", such as 1.2.0');
}

/** From `parameters` or `input_schema`; neither of them: no arguments. */
export function readInput(tool: YamlNode, fields: InputFields, reader: YamlReader): Schema | undefined {
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

function readParameter(node: YamlNode, reader: YamlReader): ToolParameter | undefined {
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
    ...(fields.default === undefined ? {} : { default: toJson(fields.default) }),
  };
}

export function readSchema(node: YamlNode, what: string, reader: YamlReader): Schema | undefined {
  try {
    const schema = parseForeignSchema(toJson(node));
    const isObject = what !== 'input_schema' || schema['type'] === 'object';
    return isObject ? schema : reader.note(node, `${what} must be of type object`);
  } catch (error) {
    if (!(error instanceof ForeignSchemaError)) throw error;
    return reader.note(node, `${what} cannot be used: ${error.message}`);
  }
}
