import type { Json, JsonObject } from '@sallyport/contract';

/** How many values there are, at every depth; stops at `enough`, so that the work is bounded whatever the value. */
export function countValues(value: Json, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  const members: readonly Json[] = Array.isArray(value) ? value : Object.values(value as JsonObject);
  let count = 1 + members.length;
  for (const member of members) {
    if (count >= enough) return enough;
    count += countValues(member, enough - count + 1) - 1;
  }
  return Math.min(count, enough);
}
