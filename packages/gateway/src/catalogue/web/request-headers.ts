import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import { acceptedEncodings } from './read-body.ts';

/** How the message is framed and where it goes is the gate's to say. */
const own =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|proxy-.*)$/;

export const headersSchema = {
  type: 'object',
  maxProperties: 50,
  propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$' },
  additionalProperties: { type: 'string', maxLength: 8192, pattern: '^[\\t -~]*$' },
  default: {},
  description:
    'Request headers by name. Leave out credentials that the gate holds: it adds those that the rules bind to the host.',
  examples: [{ Accept: 'application/json' }],
} as const;

/** The headers of a request, in lower case; what a caller leaves out is set as browsers do. */
export function requestHeaders(
  given: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  const ofGate = Object.keys(headers).find((name) => own.test(name));
  if (ofGate !== undefined) {
    throw new ToolRefused(
      refuse('INVALID_ARGUMENTS', 'schema', `The header ${ofGate} is set by the gate.`, {
        remedy: 'Leave it out.',
      }),
    );
  }
  return { 'user-agent': 'Sallyport', accept: '*/*', ...defaults, ...headers, 'accept-encoding': acceptedEncodings };
}
