import type { Begun } from '../call/call.ts';
import type { RedactText, Redacted } from '../call/redacted.ts';
import type { RedactedRefusal, Refusal, Violation } from '../call/refusal.ts';
import type { Gathered } from '../call/stage.ts';
import type { Resources } from '../call/tool.ts';
import { redactQuotes } from './quoted-secrets.ts';
import type { Redactor } from './redact.ts';
import { ownText } from '../call/redacted.ts';

/** What a text about a call may quote. */
type Quoted = Gathered<Pick<Begun, 'input'> & { readonly resources: Resources }>;

/** Everything in it that may quote a caller, a tool or a file. */
export function redactRefusal(refusal: Refusal, call: Quoted, redactor: Redactor): RedactedRefusal {
  const { message, remedy, forOperators, violations, ...own } = refusal;
  const redact = redactQuotes(call.input, redactor);
  const [advice, forPeople] = [remedy, forOperators].map((text) => redactRemedy(text, call, redactor));
  return {
    ...own,
    message: redact(message),
    ...(advice === undefined ? {} : { remedy: advice }),
    ...(forPeople === undefined ? {} : { forOperators: forPeople }),
    ...(violations === undefined ? {} : { violations: redactViolations(violations, redact) }),
  };
}

export function redactViolations(violations: readonly Violation[], redact: RedactText) {
  return violations.map(({ field, rule, message }) => ({ field: redact(field), rule, message: redact(message) }));
}

const secretInClaim = ownText('What the call asks for holds something that looks like a secret: ask without it.');

/**
 * What a refused caller is told to do, as it may be shown and kept. A rule that would let the call through spells what it
 * asks for in another way, in which no secret is recognised; so where the call asks for one, no rule is shown.
 */
export function redactRemedy(
  remedy: string | undefined,
  { resources, input }: { readonly resources?: Resources | undefined; readonly input?: string | undefined },
  redactor: Redactor,
): Redacted | undefined {
  if (remedy === undefined) return undefined;
  const isSpelled = claimedTexts(resources).some((text) => redactor.redactText(text) !== text);
  if (isSpelled) return secretInClaim;
  const shown = redactor.redactText(remedy);
  return redactQuotes(input, redactor)(remedy) === shown ? shown : secretInClaim;
}

function claimedTexts(resources: Resources | undefined): readonly string[] {
  const { paths = [], hosts = [], commands = [], apps = [] } = resources ?? {};
  return [...paths.map(({ path }) => path), ...hosts, ...commands, ...apps];
}
