/** One argument of a tool, as far as its schema tells. */
export interface ArgumentRow {
  readonly name: string;
  readonly type: string;
  /** `required`, or the default, or nothing. */
  readonly need: string;
  readonly description: string;
}

type Schema = Readonly<Record<string, unknown>>;

const deepest = 3;

/** The properties of an object schema, those of nested objects after their parent as `parent.child`. */
export function describeArguments(schema: Schema, prefix = '', depth = 1): ArgumentRow[] {
  const required = asList(schema['required']);
  return Object.entries(asSchema(schema['properties'])).flatMap(([key, value]) => {
    const property = asSchema(value);
    const name = `${prefix}${key}`;
    const row: ArgumentRow = {
      name,
      type: spellType(property),
      need: required.includes(key) ? 'required' : spellDefault(property),
      description: typeof property['description'] === 'string' ? property['description'] : '',
    };
    return [row, ...(depth < deepest ? describeArguments(property, `${name}.`, depth + 1) : [])];
  });
}

/** Example arguments for a call: the required ones, filled in from the schema. */
export function inventArguments(schema: Schema): Record<string, unknown> {
  const [choice] = asList(schema['anyOf'] ?? schema['oneOf']);
  const required = [...asList(schema['required']), ...asList(asSchema(choice)['required'])];
  const properties = asSchema(schema['properties']);
  return Object.fromEntries(
    required.map((key) => [String(key), inventValue(String(key), asSchema(properties[String(key)]))]),
  );
}

function inventValue(key: string, schema: Schema): unknown {
  for (const given of [schema['const'], schema['default'], asList(schema['examples'])[0], asList(schema['enum'])[0]]) {
    if (given !== undefined) return given;
  }
  switch (asList(schema['type'])[0] ?? schema['type']) {
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    case 'boolean':
      return true;
    case 'array':
      return [inventValue(key, asSchema(schema['items']))];
    case 'object':
      return inventArguments(schema);
    default:
      return key.toUpperCase();
  }
}

function spellType(schema: Schema): string {
  const choices = asList(schema['enum']);
  if (choices.length > 0) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  const types = typeof schema['type'] === 'string' ? [schema['type']] : asList(schema['type']).map(String);
  if (types.length === 0) return 'any';
  return types.map((type) => (type === 'array' ? spellList(asSchema(schema['items'])) : type)).join(' | ');
}

function spellList(items: Schema): string {
  const type = spellType(items);
  return type.includes(' | ') ? `(${type})[]` : `${type}[]`;
}

function spellDefault(schema: Schema): string {
  return schema['default'] === undefined ? '' : `= ${JSON.stringify(schema['default'])}`;
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
