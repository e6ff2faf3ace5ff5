import { Redactor } from '../audit/redact.ts';
import type { GatewayEnding } from '../gateway.ts';
import { redactEnding } from './redact-ending.ts';
import type { RedactedEnding } from './redact-ending.ts';

const redactor = new Redactor();

/** An ending that a test made up, as a door gets it. */
export function redactedEnding(ending: object): RedactedEnding {
  return redactEnding(ending as GatewayEnding, redactor);
}
