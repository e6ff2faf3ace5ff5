import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '@sallyport/contract';
import { canonicalJson, isJsonObject } from '@sallyport/contract';
import { createAjv } from './create-ajv.ts';
import { compileForeignPattern } from './foreign-pattern.ts';
import { listSubschemas, schemaKeywords } from './schema-keywords.ts';
import type { WorkMeter } from './work-meter.ts';

const look = 'x-look';

/**
 * Compiles a schema that `parseForeignSchema` has let through. Every look at a value is charged to the meter, which
 * throws TooMuchWork out of the validation; the meter must be begun before each one.
 */
export function compileForeignSchema(
  schema: JsonObject,
  meter: WorkMeter,
  options: { readonly allErrors: boolean },
): ValidateFunction {
  const ajv = createAjv({
    ...options,
    // A part that is referred to a thousand times is compiled once.
    inlineRefs: false,
    code: { regExp: meteredPatterns(meter) },
  });
  ajv.addKeyword({
    keyword: look,
    schemaType: 'number',
    validate: (weight: number, value: Json) => {
      meter.chargeLook(weight, value);
      return true;
    },
  });
  // The one of the library compares each item with each other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (wanted: boolean, items: readonly Json[]) => !wanted || areDistinct(items, meter),
  });
  return ajv.compile(addLooks(schema));
}

/** The library keeps patterns by what `toString` says, in one drawer for all: each says something of its own. */
function meteredPatterns(meter: WorkMeter) {
  let count = 0;
  const compile = (pattern: string) => {
    const compiled = compileForeignPattern(pattern);
    const id = `foreign-pattern-${++count}`;
    return {
      test: (text: string): boolean => {
        meter.chargePattern(compiled.size, text);
        return compiled.test(text);
      },
      toString: () => id,
    };
  };
  return Object.assign(compile, { code: 'compileForeignPattern' });
}

function areDistinct(items: readonly Json[], meter: WorkMeter): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const spelled = canonicalJson(item);
    meter.chargeText(spelled.length);
    if (seen.has(spelled)) return false;
    seen.add(spelled);
  }
  return true;
}

/**
 * A copy in which every schema counts its looks before anything else in it can end them: `{allOf: [count, schema]}`.
 * References follow to where the schemas now stand.
 */
function addLooks(schema: JsonObject): JsonObject {
  const places = new Map<string, string>();
  placeSchemas(schema, '', '', places);
  return wrapSchema(schema, places);
}

const inside = '/allOf/1';

function placeSchemas(schema: JsonObject, before: string, after: string, places: Map<string, string>): void {
  places.set(before, after);
  for (const { step, schema: part } of listSubschemas(schema)) {
    if (isJsonObject(part)) placeSchemas(part, before + step, after + inside + step, places);
    else places.set(before + step, after + inside + step);
  }
}

function wrapSchema(schema: JsonObject, places: ReadonlyMap<string, string>): JsonObject {
  const wrap = (part: Json): Json => (isJsonObject(part) ? wrapSchema(part, places) : part);
  const copy: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const form = schemaKeywords.get(keyword);
    if (form === 'schema') copy[keyword] = wrap(value);
    else if (form === 'schema-list') copy[keyword] = (value as readonly Json[]).map(wrap);
    else if (form === 'named-schemas') copy[keyword] = mapMembers(value as JsonObject, wrap);
    else if (form === 'reference') copy[keyword] = `#${places.get(decodeURIComponent((value as string).slice(1)))}`;
    else copy[keyword] = value;
  }
  const wrapped = { allOf: [{ [look]: weigh(schema) }, copy] };
  // Defaults are read where a property begins.
  return schema['default'] === undefined ? wrapped : { ...wrapped, default: schema['default'] };
}

function mapMembers(members: JsonObject, change: (member: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]));
}

/** What one look costs: lists in the schema are gone through each time. */
function weigh(schema: JsonObject): number {
  const { enum: values, required, dependentRequired } = schema;
  return 1 + ((lengthOf(values) + lengthOf(required) + lengthOf(dependentRequired)) >> 1);
}

function lengthOf(value: Json | undefined): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
