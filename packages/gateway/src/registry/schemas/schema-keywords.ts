import type { Json, JsonObject } from '@sallyport/contract';
import { isJsonObject } from '@sallyport/contract';

/** What stands behind a keyword. */
export type KeywordForm =
  | 'schema'
  | 'schema-list'
  | 'named-schemas'
  | 'count'
  | 'number'
  | 'positive'
  | 'pattern'
  | 'names'
  | 'named-names'
  | 'flag'
  | 'type'
  | 'values'
  | 'value'
  | 'text'
  | 'reference';

/** The keywords of JSON Schema 2020-12 that tools of others may use. What only they understand is left out. */
export const schemaKeywords: ReadonlyMap<string, KeywordForm> = new Map([
  ['$ref', 'reference'],
  ['$defs', 'named-schemas'],
  ['definitions', 'named-schemas'],
  ['$schema', 'text'],
  ['$comment', 'text'],
  ['allOf', 'schema-list'],
  ['anyOf', 'schema-list'],
  ['oneOf', 'schema-list'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ['dependentSchemas', 'named-schemas'],
  ['properties', 'named-schemas'],
  ['patternProperties', 'named-schemas'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['items', 'schema'],
  ['prefixItems', 'schema-list'],
  ['contains', 'schema'],
  ['unevaluatedItems', 'schema'],
  ['type', 'type'],
  ['enum', 'values'],
  ['const', 'value'],
  ['multipleOf', 'positive'],
  ['maximum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['minimum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['maxLength', 'count'],
  ['minLength', 'count'],
  ['pattern', 'pattern'],
  ['maxItems', 'count'],
  ['minItems', 'count'],
  ['uniqueItems', 'flag'],
  ['maxContains', 'count'],
  ['minContains', 'count'],
  ['maxProperties', 'count'],
  ['minProperties', 'count'],
  ['required', 'names'],
  ['dependentRequired', 'named-names'],
  ['title', 'text'],
  ['description', 'text'],
  ['default', 'value'],
  ['examples', 'values'],
  ['deprecated', 'flag'],
  ['readOnly', 'flag'],
  ['writeOnly', 'flag'],
  ['format', 'text'],
  ['x-sallyport', 'text'],
]);

/** Keywords whose schemas describe the same value again. A reference that leads back through them never ends. */
export const inPlaceKeywords: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
]);

export interface Subschema {
  readonly keyword: string;
  /** As a JSON pointer continues with it: `/properties/name`. */
  readonly step: string;
  readonly schema: Json;
}

/** The schemas directly inside a schema. Takes whatever stands there, checked or not. */
export function* listSubschemas(schema: JsonObject): Generator<Subschema> {
  for (const [keyword, value] of Object.entries(schema)) {
    const form = schemaKeywords.get(keyword);
    if (form === 'schema') yield { keyword, step: `/${keyword}`, schema: value };
    else if (form === 'schema-list' && Array.isArray(value)) {
      for (const [index, item] of (value as readonly Json[]).entries()) {
        yield { keyword, step: `/${keyword}/${index}`, schema: item };
      }
    } else if (form === 'named-schemas' && isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        yield { keyword, step: `/${keyword}/${escapePointer(name)}`, schema: member };
      }
    }
  }
}

/** A name as a JSON pointer holds it. */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
