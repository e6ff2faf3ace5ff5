import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { readOpenApi } from './openapi-route.ts';

interface OpenApi {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, Record<string, unknown>> }>>;
  readonly components: { readonly schemas: Record<string, { readonly examples?: readonly unknown[] }> };
}

export const openApi = readOpenApi() as unknown as OpenApi;

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
ajv.addVocabulary(['components']);
ajv.addSchema({ components: closed(openApi.components) as object }, 'openapi');

/** Newer versions may say more, so the document leaves objects open; for the tests a field that it lacks is a mistake. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node as Record<string, unknown>).map(([key, value]): [string, unknown] => [
    key,
    key === 'examples' ? value : closed(value),
  ]);
  const isObjectSchema = 'properties' in node && 'type' in node;
  return { ...Object.fromEntries(entries), ...(isObjectSchema ? { additionalProperties: false } : {}) };
}

function validatorOf(schema: string): ValidateFunction {
  return ajv.getSchema(`openapi#/components/schemas/${schema}`) ?? assert.fail(`the document has no ${schema}`);
}

/** Fails unless the value, as JSON, is exactly what the document says. Returns it as a client reads it. */
export function assertDescribed(schema: string, value: unknown): Record<string, unknown> {
  const read = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
  const validate = validatorOf(schema);
  assert.ok(validate(read), `${JSON.stringify(read)}: ${ajv.errorsText(validate.errors)}`);
  return read;
}

export function isDescribed(schema: string, value: unknown): boolean {
  return validatorOf(schema)(value);
}
