import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { canonicalJson, isJsonObject, parseStrictJson, StrictJsonError } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { CallRequest } from '../connect/read-call.ts';
import { checkJsonShape } from '../transport/wire/check-shape.ts';
import { RpcError } from '../transport/rpc-error.ts';

/** A body as one strict JSON object. Throws RpcError. */
export function parseBody(bytes: Buffer): JsonObject {
  checkJsonShape(bytes);
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  try {
    const body = parseStrictJson(bytes.toString());
    if (isJsonObject(body)) return body;
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw malformed(`The body is not acceptable JSON: ${error.message}.`);
  }
  throw malformed('The body is not a JSON object.');
}

/** As text too: the gate measures one spelling of the arguments, whatever the door. */
export function readInput(body: JsonObject, field: string): Pick<CallRequest, 'inputJson' | 'parsedInput'> {
  const value = body[field];
  return value === undefined ? { inputJson: '' } : { inputJson: canonicalJson(value), parsedInput: value };
}

export function readText(body: JsonObject, field: string): string {
  const value = optional(body, field) ?? '';
  return typeof value === 'string' ? value : fail(field, 'a string');
}

export function readNumber(body: JsonObject, field: string): number {
  const value = optional(body, field) ?? 0;
  return typeof value === 'number' ? value : fail(field, 'a number');
}

/** How long a caller waits: a whole number of milliseconds. */
export function readWait(body: JsonObject, field: string): { readonly waitMs?: number } {
  const waitMs = readNumber(body, field);
  if (!Number.isInteger(waitMs) || waitMs < 0) fail(field, 'a whole number of milliseconds');
  return waitMs === 0 ? {} : { waitMs };
}

export function readObject(body: JsonObject, field: string): JsonObject {
  const value = optional(body, field) ?? {};
  return isJsonObject(value) ? value : fail(field, 'an object');
}

export function readObjects(body: JsonObject, field: string): readonly JsonObject[] {
  const value = optional(body, field) ?? [];
  return Array.isArray(value) && value.every(isJsonObject) ? value : fail(field, 'a list of objects');
}

/** A trace id may be written as a UUID. One that is no trace id at all is passed over later, as in a header. */
export function traceparentOf(traceId: string, spanId: string): string {
  return `00-${plainTraceId(traceId)}-${spanId || randomBytes(8).toString('hex')}-01`;
}

export function plainTraceId(traceId: string): string {
  return traceId.replaceAll('-', '').toLowerCase();
}

export function malformed(message: string): RpcError {
  return new RpcError('invalid_argument', message);
}

/** Clients whose language knows no absent field send null. */
function optional(body: JsonObject, field: string): Exclude<Json, null> | undefined {
  return body[field] ?? undefined;
}

function fail(field: string, expected: string): never {
  throw malformed(`"${field}" must be ${expected}.`);
}
