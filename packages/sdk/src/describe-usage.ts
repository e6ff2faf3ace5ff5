import { isJsonObject } from './json.ts';
import type { Json, JsonObject } from './json.ts';
import type { ToolSpec } from './tool.ts';

type Described = Pick<ToolSpec<JsonObject, JsonObject>, 'name' | 'version' | 'description' | 'input'>;

/** What `--help` prints. */
export function describeUsage({ name, version, description, input }: Described): string {
  const properties = Object.entries(isJsonObject(input['properties']) ? input['properties'] : {});
  const required = Array.isArray(input['required']) ? (input['required'] as readonly Json[]) : [];
  const rows = properties.map(([key, property]) =>
    describeProperty(key, property, { required: required.includes(key) }),
  );
  const width = Math.max(0, ...rows.map(({ left }) => left.length));
  return [
    `${name} ${version}`,
    description,
    '',
    'Reads one JSON object from standard input and prints one:',
    `  echo '${JSON.stringify(inventInput(properties, required))}' | ${name}`,
    '',
    rows.length === 0 ? 'It needs no input.' : 'Input',
    ...rows.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`.trimEnd()),
    '',
    '  --schema  print its definition as JSON',
    '  --help    print this',
    '',
  ].join('\n');
}

function describeProperty(
  name: string,
  property: Json,
  { required }: { readonly required: boolean },
): { readonly left: string; readonly right: string } {
  const { type = 'JSON', enum: values, default: preset, description } = isJsonObject(property) ? property : {};
  const allowed = Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : [type].flat().map(String);
  const need = required ? '' : preset === undefined ? ', optional' : `, ${JSON.stringify(preset)} if absent`;
  return { left: `${name}: ${allowed.join('|')}${need}`, right: typeof description === 'string' ? description : '' };
}

function inventInput(properties: readonly (readonly [string, Json])[], required: readonly Json[]): JsonObject {
  const needed = properties.filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.map(([name, property]) => [name, inventValue(property)]));
}

function inventValue(property: Json): Json {
  if (!isJsonObject(property)) return null;
  const { examples, enum: values, type, minimum } = property;
  const [first] = [examples, values].filter(Array.isArray).flat() as Json[];
  if (first !== undefined) return first;
  const samples: Readonly<Record<string, Json>> = { string: '…', boolean: true, array: [], object: {}, null: null };
  return (typeof type === 'string' ? samples[type] : undefined) ?? minimum ?? 1;
}
