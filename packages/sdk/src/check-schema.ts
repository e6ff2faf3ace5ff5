import { followReference } from './check-value.ts';
import { isJsonObject } from './json.ts';
import type { Json, JsonObject } from './json.ts';

const types = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'];

/** Keywords that hold one schema, a list of schemas, schemas by name, and no schema. */
const withSchema = ['items', 'additionalProperties', 'not'];
const withSchemas = ['prefixItems', 'allOf', 'anyOf', 'oneOf'];
const withNamedSchemas = ['properties', '$defs'];
const plain = [
  ...['$schema', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
  ...['$ref', 'type', 'enum', 'const', 'required', 'format', 'pattern', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
];
const known = new Set([...withSchema, ...withSchemas, ...withNamedSchemas, ...plain]);

/** Throws TypeError for a schema that is wrong or says more than `checkValue` can check: better now than at a call. */
export function checkSchema(schema: JsonObject, name: string): void {
  visit(schema, name, schema);
}

function visit(schema: Json, name: string, root: JsonObject): void {
  if (typeof schema === 'boolean') return;
  if (!isJsonObject(schema)) throw new TypeError(`${name} is not a JSON Schema.`);
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${name}.${keyword}`;
    // Names that begin with x- are annotations for other programs.
    if (!known.has(keyword) && !keyword.startsWith('x-'))
      throw new TypeError(`${at} is not supported. Supported are ${[...known].join(', ')}.`);
    if (withSchema.includes(keyword)) visit(value, at, root);
    if (withSchemas.includes(keyword))
      for (const [index, inner] of listOf(value, at)) visit(inner, `${at}[${index}]`, root);
    if (withNamedSchemas.includes(keyword))
      for (const [key, inner] of namesOf(value, at)) visit(inner, `${at}.${key}`, root);
  }
  for (const type of [schema['type'] ?? []].flat()) {
    if (typeof type !== 'string' || !types.includes(type))
      throw new TypeError(`${name}.type is ${JSON.stringify(type)}; use ${types.join(', ')}.`);
  }
  if (typeof schema['$ref'] === 'string') followReference(schema['$ref'], root);
  if (typeof schema['pattern'] === 'string') new RegExp(schema['pattern'], 'u').test('');
}

function listOf(value: Json, name: string): readonly (readonly [number, Json])[] {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be a list.`);
  return [...(value as readonly Json[]).entries()];
}

function namesOf(value: Json, name: string): readonly (readonly [string, Json])[] {
  if (!isJsonObject(value)) throw new TypeError(`${name} must be an object.`);
  return Object.entries(value);
}
