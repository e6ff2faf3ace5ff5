import type { Json, JsonObject } from './json.ts';

declare const valueOf: unique symbol;
declare const optionalMark: unique symbol;

/** A JSON Schema (2020-12) that also knows, at compile time, the TypeScript type of the values it describes. */
export type Schema<Value> = JsonObject & { readonly [valueOf]?: Value };

/** A property that may be absent. */
export interface Optional<Value> {
  readonly optional: Schema<Value>;
  readonly [optionalMark]: true;
}

/** The values that a schema describes; `Fallback` for a plain JSON Schema, which says nothing to the compiler. */
export type ValueOf<Described, Fallback = Json> = Described extends { readonly [valueOf]?: infer Value }
  ? unknown extends Value
    ? Fallback
    : Exclude<Value, undefined>
  : Fallback;

interface Remarks<Value> {
  /** For callers of the tool. Say what it means, not which type it has. */
  readonly description?: string;
  /** Used when the value is absent, so that `run` always gets one. */
  readonly default?: Value;
  readonly examples?: readonly Value[];
}

export interface StringOptions extends Remarks<string> {
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A regular expression that must match somewhere in the text. */
  readonly pattern?: string;
  /** Such as `date-time` or `uri`: a hint for callers, which is not checked. */
  readonly format?: string;
}

export interface NumberOptions extends Remarks<number> {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

export interface ArrayOptions<Item> extends Remarks<readonly Item[]> {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
}

export function string(options: StringOptions = {}): Schema<string> {
  return build({ type: 'string' }, options);
}

export function number(options: NumberOptions = {}): Schema<number> {
  return build({ type: 'number' }, options);
}

export function integer(options: NumberOptions = {}): Schema<number> {
  return build({ type: 'integer' }, options);
}

export function boolean(options: Remarks<boolean> = {}): Schema<boolean> {
  return build({ type: 'boolean' }, options);
}

type Scalar = string | number | boolean | null;

/** One of these values and no other. */
export function choice<const Values extends readonly [Scalar, ...Scalar[]]>(
  values: Values,
  options: Remarks<Values[number]> = {},
): Schema<Values[number]> {
  return build({ enum: values }, options);
}

export function array<Items extends JsonObject>(
  items: Items,
  options: ArrayOptions<ValueOf<Items>> = {},
): Schema<readonly ValueOf<Items>[]> {
  return build({ type: 'array', items }, options);
}

/** Any number of entries with names of the caller's choice. */
export function record<Values extends JsonObject>(
  values: Values,
  options: Remarks<Readonly<Record<string, ValueOf<Values>>>> = {},
): Schema<Readonly<Record<string, ValueOf<Values>>>> {
  return build({ type: 'object', additionalProperties: values }, options);
}

export function nullable<Inner extends JsonObject>(
  inner: Inner,
  options: Remarks<ValueOf<Inner> | null> = {},
): Schema<ValueOf<Inner> | null> {
  return build({ anyOf: [inner, { type: 'null' }] }, options);
}

/** Any JSON at all. */
export function anything(options: Remarks<Json> = {}): Schema<Json> {
  return build({}, options);
}

export function optional<Inner extends JsonObject>(inner: Inner): Optional<ValueOf<Inner>> {
  return { optional: inner } as unknown as Optional<ValueOf<Inner>>;
}

type Property = JsonObject | Optional<unknown>;
type OptionalNames<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends Optional<unknown> ? Name : never;
}[keyof Properties];
type ObjectOf<Properties> = Flat<
  {
    readonly [Name in Exclude<keyof Properties, OptionalNames<Properties>>]: ValueOf<Properties[Name]>;
  } & {
    readonly [Name in OptionalNames<Properties>]?: Properties[Name] extends Optional<infer Value> ? Value : never;
  }
>;
/** Shows one object in editors and error messages instead of an intersection. */
type Flat<Type> = { [Name in keyof Type]: Type[Name] };

/** Exactly these properties: a name that is not listed is an error of the caller, and is not ignored. */
export function object<const Properties extends Readonly<Record<string, Property>>>(
  properties: Properties,
  options: Remarks<ObjectOf<Properties>> = {},
): Schema<ObjectOf<Properties>> {
  const schemas = Object.entries(properties).map(([name, property]) => [name, schemaOf(property)] as const);
  const required = Object.entries(properties)
    .filter(([, property]) => !isOptional(property) && !Object.hasOwn(property, 'default'))
    .map(([name]) => name);
  return build(
    {
      type: 'object',
      properties: Object.fromEntries(schemas),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    },
    options,
  );
}

function isOptional(property: Property): property is Optional<unknown> {
  return typeof property['optional'] === 'object' && Object.keys(property).length === 1;
}

function schemaOf(property: Property): JsonObject {
  return isOptional(property) ? property.optional : property;
}

// Options are keywords of JSON Schema under their own names; one that is set to undefined is left out.
function build<Value>(keywords: JsonObject, options: object): Schema<Value> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...keywords, ...Object.fromEntries(given) };
}
