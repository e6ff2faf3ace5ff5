import type { Json, JsonObject } from '@sallyport/contract';

/** The short form of a schema: one line a parameter. */
export interface ToolParameter {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array';
  readonly description: string;
  /** Absent: required. */
  readonly required?: boolean;
  /** A parameter with a default need not be given. */
  readonly default?: Json;
}

export function schemaFromParameters(parameters: readonly ToolParameter[]): JsonObject {
  const properties = Object.create(null) as Record<string, Json>;
  const required: string[] = [];
  for (const parameter of parameters) {
    if (parameter.name in properties) throw new TypeError(`the parameter ${parameter.name} stands twice`);
    properties[parameter.name] = {
      type: parameter.type,
      description: parameter.description,
      ...(parameter.default === undefined ? {} : { default: parameter.default }),
    };
    if ((parameter.required ?? true) && parameter.default === undefined) required.push(parameter.name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}
