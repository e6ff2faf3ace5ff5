import type { Json, JsonObject } from '@sallyport/contract';

interface Plain {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
  readonly object: JsonObject;
}

/** What fits a schema, as the compiler reads it: a tool says once which arguments it takes. */
export type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { readonly type: 'array'; readonly items: infer Item }
    ? readonly ValueOf<Item>[]
    : Schema extends { readonly properties: infer Named; readonly required: readonly (infer Required)[] }
      ? ValuesOf<Named, Required>
      : Schema extends { readonly additionalProperties: infer Item extends JsonObject }
        ? Readonly<Record<string, ValueOf<Item>>>
        : Schema extends { readonly type: infer Type extends keyof Plain }
          ? Plain[Type]
          : Schema extends { readonly type: readonly (infer Type extends keyof Plain)[] }
            ? Plain[Type]
            : Json;

/** An object with these properties. One with a default is always there. */
export type ValuesOf<Named, Required> = Flat<
  { readonly [Name in Extract<keyof Named, Required | WithDefault<Named>>]: ValueOf<Named[Name]> } & {
    readonly [Name in Exclude<keyof Named, Required | WithDefault<Named>>]?: ValueOf<NonNullable<Named[Name]>>;
  }
>;
type WithDefault<Named> = {
  [Name in keyof Named]-?: Named[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Named];
type Flat<Type> = { [Name in keyof Type]: Type[Name] };

export type Properties = Readonly<Record<string, JsonObject>>;
type Described<Type, More> = { readonly type: Type; readonly description: string } & More;

export function string<const More extends JsonObject>(description: string, more = {} as More) {
  return { type: 'string', ...more, description } as Described<'string', More>;
}

export function integer<const More extends JsonObject>(description: string, more = {} as More) {
  return { type: 'integer', ...more, description } as Described<'integer', More>;
}

/** How many: zero or more. */
export function count(description: string) {
  return integer(description, { minimum: 0 });
}

export function boolean<const More extends JsonObject>(description: string, more = {} as More) {
  return { type: 'boolean', ...more, description } as Described<'boolean', More>;
}

/** False unless it is given. */
export function flag(description: string) {
  return boolean(description, { default: false });
}

export function choice<const Values extends readonly string[], const More extends JsonObject>(
  description: string,
  values: Values,
  more = {} as More,
) {
  return { type: 'string', enum: values, ...more, description } as Described<
    'string',
    More & { readonly enum: Values }
  >;
}

export function array<const Items extends JsonObject, const More extends JsonObject>(
  description: string,
  items: Items,
  more = {} as More,
) {
  return { type: 'array', items, ...more, description } as Described<'array', More & { readonly items: Items }>;
}

export function id(description: string) {
  return string(description, { minLength: 1, maxLength: 64 });
}

export function path<const More extends JsonObject>(description: string, more = {} as More) {
  const rules = 'Relative paths start at the working directory; ".." is not allowed.';
  return string(`${description} ${rules}`, { minLength: 1, maxLength: 4096, ...more });
}

/** A closed object: what is neither optional nor has a default must be there. */
export function object<const Named extends Properties, const Optional extends string = never>(
  properties: Named,
  { optional = [], ...more }: { optional?: readonly Optional[]; not?: JsonObject; anyOf?: readonly JsonObject[] } = {},
) {
  const mayMiss = new Set<string>(optional);
  const required = Object.entries(properties)
    .filter(([key, schema]) => !('default' in schema) && !mayMiss.has(key))
    .map(([key]) => key) as Exclude<keyof Named & string, Optional | WithDefault<Named>>[];
  return { type: 'object' as const, properties, required, additionalProperties: false, ...more };
}
