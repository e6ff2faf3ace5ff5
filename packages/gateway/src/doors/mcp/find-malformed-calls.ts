import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { Violation } from '../../call/refusal.ts';

/** Calls that the SDK refuses before the gate sees them, and why: the gate must still have them on record. */
export function findMalformedCalls(message: Json): readonly (readonly Violation[])[] {
  const messages: readonly Json[] = Array.isArray(message) ? message : [message];
  const calls = messages.filter((each) => isJsonObject(each)).filter((each) => each['method'] === 'tools/call');
  const ids = calls.map(({ id }) => id);
  return calls
    .map((call, at) => [...checkParams(call), ...(ids.indexOf(call['id']) === at ? [] : [repeatedId])])
    .filter((violations) => violations.length > 0);
}

function checkParams({ params }: JsonObject): readonly Violation[] {
  if (!isJsonObject(params)) return [violation('params', 'an object')];
  const { name, arguments: args, _meta: meta } = params;
  return [
    ...(typeof name === 'string' ? [] : [violation('params.name', 'a string')]),
    ...(args === undefined || isJsonObject(args) ? [] : [violation('params.arguments', 'an object')]),
    ...(meta === undefined || isJsonObject(meta) ? [] : [violation('params._meta', 'an object')]),
  ];
}

const repeatedId: Violation = { field: 'id', rule: 'unique', message: 'id must differ from request to request' };

function violation(field: string, expected: string): Violation {
  return { field, rule: 'form', message: `${field} must be ${expected}` };
}
