import { redactQuotes } from '../redaction/quoted-secrets.ts';
import { redactRemedy } from '../redaction/redact-remedy.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { GatewayEnding } from '../gateway.ts';
import type { Begun } from '../call/call.ts';
import type { NetworkLog } from '@sallyport/sandbox';
import { cutText } from '../call/redacted.ts';
import type { Redacted, RedactText } from '../call/redacted.ts';
import type { RedactedRefusal, Refusal, Violation } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';
import type { Resources } from '../call/tool.ts';
import { addressEnding } from './address-ending.ts';

const mostNamed = 20;
const longestName = 256;

declare const taken: unique symbol;

/** An ending in the words for its caller, without secrets in them: the only kind that doors can present. */
export type RedactedEnding = GatewayEnding & { readonly [taken]: 'secrets' };

/**
 * The ending as any door may show it: each caller reads the words that are meant for them, and no secret is in the
 * text of a refusal or an error. The stages quote what
 * callers wrote whole or not at all, so that a secret is still recognised here. What a tool returned is its own; an
 * effect that waits for consent was redacted when it was put into words.
 */
export function redactEnding(ending: GatewayEnding, redactor: Redactor): RedactedEnding {
  return redactParts(addressEnding(ending), redactor) as RedactedEnding;
}

/** As it was asked for. */
export function shownName({ call }: RedactedEnding): Redacted | undefined {
  return call.toolName === undefined ? undefined : cutText(call.toolName as Redacted, longestName);
}

function redactParts(ending: GatewayEnding, redactor: Redactor): GatewayEnding {
  switch (ending.kind) {
    case 'refused': {
      const { call, refusal } = ending;
      return { ...ending, call: redactName(call, redactor), refusal: redactRefusal(refusal, call, redactor) };
    }
    case 'completed': {
      const { outcome, execution } = ending.call;
      const said = execution.warnings ?? [];
      const warnings = [...ending.call.warnings, ...said, ...warnOfRefusals(execution.network, redactor)];
      const call = { ...redactName(ending.call, redactor), warnings };
      if (outcome.ok) return { ...ending, call };
      const failure = redactFailure(outcome.failure, ending.call, redactor);
      return { ...ending, call: { ...call, outcome: { ok: false, failure } } };
    }
    case 'faulted':
      // Shown by its code and the call id only.
      return { ...ending, call: redactName(ending.call, redactor) };
  }
}

/** Programs seldom say which host they could not reach, and the caller is who can ask for a rule. */
function warnOfRefusals(network: NetworkLog | undefined, redactor: Redactor): readonly string[] {
  const hosts = network?.targetsOf('refused') ?? [];
  const more = network?.beyond.refused ?? 0;
  if (hosts.length === 0 && more === 0) return [];
  const named = hosts.slice(0, mostNamed).map((host) => redactor.redactText(host));
  const unnamed = hosts.length - named.length + more;
  const rest = unnamed === 0 ? '' : ` and ${unnamed} more`;
  return [`Sallyport refused to connect this call to ${named.join(', ')}${rest}.`];
}

/** The name that the caller used is the caller's own text. */
function redactName<Call extends Partial<Begun>>(call: Call, redactor: Redactor): Call {
  const { toolName } = call;
  return toolName === undefined ? call : { ...call, toolName: redactor.redactText(toolName) };
}

/** What a text about a call may quote. */
type Quoted = Partial<Pick<Begun, 'input'>> & { readonly resources?: Resources };

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
    ...(violations === undefined ? {} : { violations: violations.map((each) => redactViolation(each, redact)) }),
  };
}

function redactViolation({ field, rule, message }: Violation, redact: RedactText) {
  return { field: redact(field), rule, message: redact(message) };
}

function redactFailure(failure: ToolFailure, call: Quoted, redactor: Redactor): ToolFailure {
  const redact = redactQuotes(call.input, redactor);
  const { code, category, forOperators } = failure;
  return new ToolFailure(code, redact(failure.message), {
    ...(category === undefined ? {} : { category }),
    ...(forOperators === undefined ? {} : { forOperators: redact(forOperators) }),
  });
}
