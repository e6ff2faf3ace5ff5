/** Optional properties are absent rather than undefined. */
export function dropUndefined<T extends object>(parts: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const present: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(parts)) if (value !== undefined) present[key] = value;
  return present as never;
}
