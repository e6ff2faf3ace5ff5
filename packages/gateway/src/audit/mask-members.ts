import type { Json } from '@sallyport/contract';
import { isJsonObject } from '@sallyport/contract';
import { redacted } from './span.ts';

/** A copy of an object without the values of these members; anything else as it is. */
export function maskMembers(value: Json, names: readonly string[] = []): Json {
  if (names.length === 0 || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, names.includes(name) ? redacted : member]),
  );
}
