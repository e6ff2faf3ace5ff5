import { Redactor } from '../redaction/redact.ts';
import type { GatewayEnding } from '../gateway.ts';
import { redactEnding } from './redact-ending.ts';
import type { RedactedEnding } from './redact-ending.ts';

const redactor = new Redactor();

/** An ending that a test made up, as a door gets it. Where it names no session, an operator called. */
export function redactedEnding(ending: object): RedactedEnding {
  const { call } = ending as GatewayEnding;
  return redactEnding({ ...ending, call: { session: { principal: 'operator' }, ...call } } as GatewayEnding, redactor);
}
