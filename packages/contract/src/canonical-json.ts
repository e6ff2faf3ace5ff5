export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * The one spelling of a value (RFC 8785): sorted keys, no space, shortest numbers. Equal values give equal bytes, so
 * that what is hashed, shown, approved and executed can be compared. Throws on what JSON cannot say.
 */
export function canonicalJson(value: Json | undefined): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new TypeError('a string with half of a surrogate pair has no canonical form');
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item as Json)).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`${typeof value} has no canonical form`);
  const entries = value as JsonObject;
  const members: string[] = [];
  for (const key of Object.keys(entries).sort()) {
    const member = entries[key];
    // Absent and undefined are the same thing in TypeScript's optional fields.
    if (member !== undefined) members.push(`${canonicalJson(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

export function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical form`);
  return JSON.stringify(value === 0 ? 0 : value);
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
