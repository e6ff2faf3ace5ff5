import { isJsonObject } from './json.ts';
import type { Json, JsonObject } from './json.ts';

/** A value that JSON.parse made and nobody else has: defaults are written into it. */
type Mutable = Json | { [key: string]: Json };

interface Checking {
  readonly root: JsonObject;
  readonly problems: string[];
  /** False below `anyOf` and the like, where several schemas look at one value and not all of them count. */
  readonly fillsDefaults: boolean;
}

/** Fills in defaults, in place, and returns every reason why the value does not fit; none means that it does. */
export function checkValue(value: Json, schema: JsonObject, name: string): string[] {
  const problems: string[] = [];
  visit(value, schema, name, { root: schema, problems, fillsDefaults: true });
  return problems;
}

function visit(value: Mutable, schema: Json, name: string, checking: Checking): void {
  if (schema === false) checking.problems.push(`${name} is not allowed`);
  if (!isJsonObject(schema)) return;
  const refuse = (reason: string): void => void checking.problems.push(`${name} ${reason}`);

  if (typeof schema['$ref'] === 'string') visit(value, followReference(schema['$ref'], checking.root), name, checking);
  const types = schema['type'] === undefined ? [] : [schema['type']].flat();
  if (types.length > 0 && !types.some((type) => hasType(value, type)))
    return refuse(`must be ${types.map(String).join(' or ')}`);
  if (Array.isArray(schema['enum']) && !schema['enum'].some((allowed) => isEqual(allowed, value))) {
    refuse(`must be one of ${schema['enum'].map((allowed) => JSON.stringify(allowed)).join(', ')}`);
  }
  if (schema['const'] !== undefined && !isEqual(schema['const'], value)) {
    refuse(`must be ${JSON.stringify(schema['const'])}`);
  }
  if (typeof value === 'number') checkNumber(value, schema, refuse);
  else if (typeof value === 'string') checkString(value, schema, refuse);
  else if (Array.isArray(value)) checkArray(value as readonly Json[], schema, name, checking, refuse);
  else if (isJsonObject(value)) checkObject(value, schema, name, checking, refuse);
  checkCombinations(value, schema, name, checking, refuse);
}

function hasType(value: Mutable, type: Json): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Not by `isDeepStrictEqual`, to which 0 and -0 are different numbers. */
function isEqual(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => isEqual(item, right[at]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return left === right;
  const keys = Object.keys(left);
  const hasSame = (key: string): boolean => Object.hasOwn(right, key) && isEqual(left[key], right[key]);
  return keys.length === Object.keys(right).length && keys.every(hasSame);
}

type Refuse = (reason: string) => void;

function limit(schema: JsonObject, keyword: string): number | undefined {
  const bound = schema[keyword];
  return typeof bound === 'number' ? bound : undefined;
}

function checkNumber(value: number, schema: JsonObject, refuse: Refuse): void {
  const [minimum, maximum] = [limit(schema, 'minimum'), limit(schema, 'maximum')];
  const [above, below] = [limit(schema, 'exclusiveMinimum'), limit(schema, 'exclusiveMaximum')];
  const step = limit(schema, 'multipleOf');
  if (minimum !== undefined && value < minimum) refuse(`must be at least ${minimum}`);
  if (maximum !== undefined && value > maximum) refuse(`must be at most ${maximum}`);
  if (above !== undefined && value <= above) refuse(`must be more than ${above}`);
  if (below !== undefined && value >= below) refuse(`must be less than ${below}`);
  if (step !== undefined && !Number.isInteger(value / step)) refuse(`must be a multiple of ${step}`);
}

function checkString(value: string, schema: JsonObject, refuse: Refuse): void {
  checkCount([...value].length, schema, ['minLength', 'maxLength', 'characters'], refuse);
  const { pattern } = schema;
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) refuse(`must match ${pattern}`);
}

function checkCount(
  count: number,
  schema: JsonObject,
  [minimumKeyword, maximumKeyword, what]: readonly [string, string, string],
  refuse: Refuse,
): void {
  const [minimum, maximum] = [limit(schema, minimumKeyword), limit(schema, maximumKeyword)];
  if (minimum !== undefined && count < minimum) refuse(`must have at least ${minimum} ${what}`);
  if (maximum !== undefined && count > maximum) refuse(`must have at most ${maximum} ${what}`);
}

function checkArray(
  items: readonly Json[],
  schema: JsonObject,
  name: string,
  checking: Checking,
  refuse: Refuse,
): void {
  checkCount(items.length, schema, ['minItems', 'maxItems', 'items'], refuse);
  const first = Array.isArray(schema['prefixItems']) ? (schema['prefixItems'] as readonly Json[]) : [];
  for (const [at, item] of items.entries()) {
    visit(item, first[at] ?? schema['items'] ?? true, `${name}[${at}]`, checking);
  }
  const isRepeated = (item: Json, at: number): boolean => items.slice(0, at).some((other) => isEqual(other, item));
  if (schema['uniqueItems'] === true && items.some(isRepeated)) refuse('must not contain the same item twice');
}

function checkObject(
  value: { [key: string]: Json },
  schema: JsonObject,
  name: string,
  checking: Checking,
  refuse: Refuse,
): void {
  const at = (key: string): string => (name === '' ? key : `${name}.${key}`);
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  for (const [key, property] of Object.entries(properties)) {
    if (checking.fillsDefaults && !Object.hasOwn(value, key) && isJsonObject(property))
      fillDefault(value, key, property);
    if (Object.hasOwn(value, key)) visit(value[key] ?? null, property, at(key), checking);
  }
  for (const key of Array.isArray(schema['required']) ? schema['required'] : []) {
    if (!Object.hasOwn(value, String(key))) checking.problems.push(`${at(String(key))} is required`);
  }
  const keys = Object.keys(value);
  checkCount(keys.length, schema, ['minProperties', 'maxProperties', 'properties'], refuse);
  for (const key of keys.filter((other) => !Object.hasOwn(properties, other))) {
    if (schema['additionalProperties'] === false) checking.problems.push(describeUnknown(at(key), properties));
    else visit(value[key] ?? null, schema['additionalProperties'] ?? true, at(key), checking);
  }
}

function fillDefault(value: { [key: string]: Json }, key: string, { default: preset }: JsonObject): void {
  if (preset === undefined) return;
  // Defined, not assigned: `__proto__` is an ordinary name here.
  Object.defineProperty(value, key, {
    value: structuredClone(preset),
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

function describeUnknown(field: string, properties: JsonObject): string {
  const known = Object.keys(properties);
  return `${field} is not known; ${known.length === 0 ? 'there is nothing to give' : `use ${known.join(', ')}`}`;
}

function checkCombinations(value: Mutable, schema: JsonObject, name: string, checking: Checking, refuse: Refuse): void {
  const fits = (other: Json): boolean => {
    const problems: string[] = [];
    visit(value, other, name, { ...checking, problems, fillsDefaults: false });
    return problems.length === 0;
  };
  const { allOf, anyOf, oneOf, not } = schema;
  if (Array.isArray(allOf)) {
    for (const other of allOf as readonly Json[]) visit(value, other, name, { ...checking, fillsDefaults: false });
  }
  if (Array.isArray(anyOf) && !anyOf.some(fits)) refuse('has none of the allowed forms');
  if (Array.isArray(oneOf) && oneOf.filter(fits).length !== 1) refuse('must have exactly one of the allowed forms');
  if (not !== undefined && fits(not)) refuse('has a form that is not allowed');
}

/** `#/$defs/name`: a JSON pointer into the schema itself. */
export function followReference(reference: string, root: JsonObject): Json {
  let found: Json | undefined = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = Object.hasOwn(Object(found) as object, key) ? (found as JsonObject)[key] : undefined;
  }
  if (found === undefined || !/^#(?:\/|$)/.test(reference)) {
    throw new TypeError(`The schema refers to ${reference}, which it does not contain.`);
  }
  return found;
}
