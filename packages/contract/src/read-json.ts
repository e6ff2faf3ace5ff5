import { attempt } from './attempt.ts';
import { isJsonObject } from './canonical-json.ts';
import type { Json, JsonObject } from './canonical-json.ts';

/** Undefined: the text is not JSON, or not an object. For what need not be strict, as `parseStrictJson` is. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = attempt(() => JSON.parse(text) as Json);
  return isJsonObject(value) ? value : undefined;
}

/** Empty where there is no text. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
