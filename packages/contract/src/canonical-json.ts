export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Inherits no member. One from `Object.create(null)` does not either, but is kept as a hash table and slow to use. */
export const BareObject = function () {} as unknown as { new (): Record<string, Json>; prototype: object };
BareObject.prototype = Object.freeze(Object.create(null) as object);

/**
 * The one spelling of a value (RFC 8785): sorted keys, no space, shortest numbers. Equal values give equal bytes, so
 * that what is hashed, shown, approved and executed can be compared. Throws on what JSON cannot say.
 */
export function canonicalJson(value: Json | undefined): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      return canonicalNumber(value);
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value as readonly Json[]) : canonicalObject(value as JsonObject);
    default:
      throw new TypeError(`${typeof value} has no canonical form`);
  }
}

export function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical form`);
  return String(value);
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('a string with half of a surrogate pair has no canonical form');
  return JSON.stringify(value);
}

function canonicalArray(items: readonly Json[]): string {
  let text = '';
  // Not `map`: it would pass over holes, and a hole is no JSON.
  for (const item of items) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
  return `[${text}]`;
}

function canonicalObject(entries: JsonObject): string {
  const prototype: unknown = Object.getPrototypeOf(entries);
  // A Date, a Map or a byte array would come out as some other value.
  if (prototype !== Object.prototype && prototype !== BareObject.prototype && prototype !== null) {
    throw new TypeError('only plain objects are JSON');
  }
  let text = '';
  for (const key of sorted(Object.keys(entries))) {
    const member = entries[key];
    // Absent and undefined are the same thing in TypeScript's optional fields.
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${canonicalKey(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** The names of members as they are spelled: there are few of them, and each comes again and again. */
const spelledKeys = new Map<string, string>();
const mostSpelledKeys = 1000;
const longestSpelledKey = 64;

function canonicalKey(key: string): string {
  const known = spelledKeys.get(key);
  if (known !== undefined) return known;
  const spelled = canonicalString(key);
  if (key.length <= longestSpelledKey && spelledKeys.size < mostSpelledKeys) spelledKeys.set(key, spelled);
  return spelled;
}

/** More are sorted by the runtime, which takes longer for few. */
const mostInserted = 16;

function sorted(keys: string[]): string[] {
  if (keys.length > mostInserted) return keys.sort();
  for (let at = 1; at < keys.length; at++) {
    const key = keys[at] as string;
    let before = at;
    for (; before > 0 && (keys[before - 1] as string) > key; before--) keys[before] = keys[before - 1] as string;
    keys[before] = key;
  }
  return keys;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
