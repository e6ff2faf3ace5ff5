import type { CallerSpan } from '../call/call.ts';

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const onlyZeros = /^0+$/;
const longestState = 512;
const mostMembers = 32;
const stateMember = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** What a W3C `traceparent` says. Undefined: it is absent or not valid. */
export function parseTraceparent(traceparent = ''): (CallerSpan & { readonly traceId: string }) | undefined {
  const [, version = 'ff', traceId = '', spanId = '', flags = '', more] = traceparentForm.exec(traceparent) ?? [];
  // ff is no version, and only later versions than 00 may say more.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (onlyZeros.test(traceId) || onlyZeros.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** A W3C `tracestate` without the spaces around its members. Undefined: it is absent, not valid or too long. */
export function parseTracestate(tracestate = ''): string | undefined {
  if (tracestate === '' || tracestate.length > longestState) return undefined;
  const members = tracestate.split(',').map((member) => member.trim());
  const named = members.filter((member) => member !== '');
  if (named.length === 0 || named.length > mostMembers || !named.every((member) => stateMember.test(member)))
    return undefined;
  return named.join(',');
}

/**
 * The span of a call: the last half of its id, 62 bits of which are random. So anyone who has the one finds the other, and
 * no call pays for an id of its own.
 */
export function spanIdOf(callId: string): string {
  return callId.slice(19, 23) + callId.slice(24);
}

export function writeTraceparent(traceId: string, callId: string, isSampled: boolean): string {
  return `00-${traceId}-${spanIdOf(callId)}-${isSampled ? '01' : '00'}`;
}
