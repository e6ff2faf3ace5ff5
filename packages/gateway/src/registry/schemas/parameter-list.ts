import type { Json, JsonObject } from '@sallyport/contract';
import { dropUndefined, isJsonObject } from '@sallyport/contract';
import { DescriptionError, readFlag, readOneOf } from '../description-fields.ts';

export const parameterTypes = ['string', 'number', 'boolean', 'object', 'array'] as const;
export const parameterKeys = ['name', 'type', 'description', 'required', 'default'] as const;

/** The short form of a schema: one line a parameter. */
export interface ToolParameter {
  readonly name: string;
  readonly type: (typeof parameterTypes)[number];
  readonly description: string;
  /** Absent: required. */
  readonly required?: boolean;
  /** A parameter with a default need not be given. Absent, or null: it has none. */
  readonly default?: Json;
}

/** Throws TypeError for a list that cannot be meant. */
export function schemaFromParameters(parameters: readonly ToolParameter[]): JsonObject {
  const properties = Object.create(null) as Record<string, Json>;
  const required: string[] = [];
  for (const { name, type, description, required: isRequired = true, default: given = null } of parameters) {
    if (name in properties) throw new DescriptionError(`the parameter ${name} stands twice`);
    if (given !== null && !isOfType(given, type))
      throw new DescriptionError(`the default of ${name} is not of type ${type}`);
    properties[name] = { type, description, ...(given === null ? {} : { default: given }) };
    if (isRequired && given === null) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

function isOfType(value: Json, type: ToolParameter['type']): boolean {
  if (type === 'array') return Array.isArray(value);
  return type === 'object' ? isJsonObject(value) : typeof value === type;
}

/** Throws DescriptionError. A key that a parameter does not have is a mistake: it would have limited something. */
export function parseParameters(value: Json | undefined): readonly ToolParameter[] {
  if (!Array.isArray(value)) throw new DescriptionError('its parameters must be a list');
  return value.map((item: Json) => {
    const type = isJsonObject(item) ? readOneOf(item, 'type', parameterTypes) : undefined;
    if (!isJsonObject(item) || type === undefined || typeof item['name'] !== 'string' || item['name'] === '') {
      throw new DescriptionError(`each of its parameters needs a name and a type, one of ${parameterTypes.join(', ')}`);
    }
    const { name, description = '', default: given } = item;
    const odd = Object.keys(item).find((key) => !parameterKeys.some((each) => each === key));
    if (odd !== undefined)
      throw new DescriptionError(`a parameter has no ${JSON.stringify(odd)}; use args_schema for it`);
    if (typeof description !== 'string') throw new DescriptionError(`the description of ${name} must be text`);
    const required = readFlag(item, 'required');
    return {
      ...{ name, type, description },
      ...dropUndefined({ required, default: given }),
    };
  });
}
