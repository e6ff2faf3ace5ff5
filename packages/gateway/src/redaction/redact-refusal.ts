import type { Begun } from '../call/call.ts';
import type { RedactText } from '../call/redacted.ts';
import type { RedactedRefusal, Refusal, Violation } from '../call/refusal.ts';
import type { Gathered } from '../call/stage.ts';
import type { Resources } from '../call/tool.ts';
import { redactQuotes } from './quoted-secrets.ts';
import { redactRemedy } from './redact-remedy.ts';
import type { Redactor } from './redact.ts';

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
