/** The object that a JSON text is, such as a schema or a definition. Anything else is an empty one: nothing is said. */
export function parseObject(text: string | undefined): Readonly<Record<string, unknown>> {
  const value: unknown = text ? JSON.parse(text) : {};
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
