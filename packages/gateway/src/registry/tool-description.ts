import type { Json, JsonObject } from '@sallyport/contract';
import { dropUndefined, hasHiddenText, isJsonObject, makeVisibleLine } from '@sallyport/contract';
import { DescriptionError, readText, readTexts } from './description-fields.ts';
import { parseParameters, schemaFromParameters } from './schemas/parameter-list.ts';
import { parseForeignSchema } from './schemas/parse-foreign-schema.ts';
import { isToolName, isToolVersion, nameRule, unknownVersion } from './tool-name.ts';
import { noRequests, readRequests, requestKeys } from './tool-requests.ts';
import type { ToolRequests } from './tool-requests.ts';

/** What a program says about itself with `--schema`. */
export interface ToolDescription {
  /** Absent: the name of its file. */
  readonly name?: string;
  /** Absent: that of its file, or `unknownVersion`. */
  readonly version?: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** A word to find it by. Absent: where it comes from. */
  readonly category?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly requests: ToolRequests;
  /** Keys of its description that mean nothing here, for the person who accepts it. Absent: all of them do. */
  readonly unknownKeys?: readonly string[];
}

const longestDescription = 10_000;
const mostTags = 50;
const mostUnknown = 20;
const longestUnknown = 60;
const ownKeys = ['name', 'version', 'description', 'tags', 'category', 'output_schema'] as const;
const inputKeys = ['input_schema', 'args_schema', 'parameters'] as const;
/** Every key of a description that means something. */
export const descriptionKeys = [...ownKeys, ...inputKeys, ...requestKeys] as const;

/** Throws DescriptionError or ForeignSchemaError. Keys that nobody here knows are named in the result. */
export function parseToolDescription(value: Json): ToolDescription {
  if (!isJsonObject(value)) throw new DescriptionError('it is not one JSON object');
  const { name, version, description = '' } = value;
  if (name !== undefined && !(typeof name === 'string' && isToolName(name))) {
    throw new DescriptionError(`its name must be ${nameRule}`);
  }
  if (version !== undefined && !(typeof version === 'string' && isToolVersion(version))) {
    throw new DescriptionError('its version must be letters, digits, dots, "-" and "+", such as 1.2.0');
  }
  if (typeof description !== 'string' || description.length > longestDescription || hasHiddenText(description)) {
    throw new DescriptionError(`its description must be plain text of up to ${longestDescription} characters`);
  }
  const category = readText(value, 'category');
  const unknownKeys = nameUnknown(Object.keys(value).filter((key) => !descriptionKeys.some((each) => each === key)));
  return {
    ...dropUndefined({ name, version }),
    description,
    tags: readTexts(value, 'tags').slice(0, mostTags),
    ...(category === undefined ? {} : { category }),
    inputSchema: { ...readInputSchema(value), type: 'object' },
    outputSchema: value['output_schema'] === undefined ? {} : parseForeignSchema(value['output_schema']),
    requests: readRequests(value),
    ...(unknownKeys.length === 0 ? {} : { unknownKeys }),
  };
}

function readInputSchema(value: JsonObject): JsonObject {
  const [key, ...more] = inputKeys.filter((each) => value[each] !== undefined);
  if (key === undefined) throw new DescriptionError(`it has no ${inputKeys.join(', ')}`);
  if (more.length > 0) throw new DescriptionError(`it has ${[key, ...more].join(' and ')}; one of them says it all`);
  if (key === 'parameters') return parseForeignSchema(schemaFromParameters(parseParameters(value[key])));
  const schema = parseForeignSchema(value[key] ?? null);
  // Arguments are always an object; a schema that leaves that open is taken to mean it.
  if (['object', undefined].includes(schema['type'] as string | undefined)) return schema;
  throw new DescriptionError(`its ${key} must be of type object`);
}

/** Keys are chosen by the author of the tool: a few of them, in one line each. */
export function nameUnknown(keys: readonly string[]): readonly string[] {
  const named = keys.slice(0, mostUnknown).map((key) => makeVisibleLine(key));
  const shown = named.map((key) => (key.length > longestUnknown ? `a key of ${key.length} characters` : key));
  return keys.length > mostUnknown ? [...shown, `and ${keys.length - mostUnknown} more`] : shown;
}

/** What is said about a program that says nothing. */
export function describeNothing(file: { readonly name: string; readonly version?: string }): ToolDescription {
  return {
    name: file.name,
    version: file.version ?? unknownVersion,
    description: 'A program whose --schema gave no usable description. It takes and returns any JSON object.',
    tags: [],
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
    requests: noRequests,
  };
}
