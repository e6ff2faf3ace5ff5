import { isJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';

/**
 * The first part of a path that no value of this schema can have. Undefined: all of it may exist. Only what the schema
 * clearly excludes counts; the rest shows when the pipeline runs.
 */
export function findAbsent(schema: Json | undefined, path: readonly string[]): string | undefined {
  let at = schema;
  for (const part of path) {
    if (!isJsonObject(at)) return undefined;
    const { properties, additionalProperties, items } = at;
    if (at['type'] === 'array') {
      if (!/^\d+$/.test(part)) return part;
      at = items;
    } else if (isJsonObject(properties) && Object.hasOwn(properties, part)) {
      at = properties[part];
    } else {
      return additionalProperties === false ? part : undefined;
    }
  }
  return undefined;
}
