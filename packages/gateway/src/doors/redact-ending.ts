import { redactRemedy } from '../audit/redact-remedy.ts';
import type { Redactor } from '../audit/redact.ts';
import type { GatewayEnding } from '../gateway.ts';
import type { Begun, Resolved } from '../model/call.ts';
import type { Refusal } from '../model/refusal.ts';
import { ToolFailure } from '../model/tool.ts';
import type { Resources } from '../model/tool.ts';

/**
 * The ending as any door may show it: no secret in the text of a refusal or an error. The stages quote what
 * callers wrote whole or not at all, so that a secret is still recognised here. What a tool returned is its own; an
 * effect that waits for consent was redacted when it was put into words.
 */
export function redactEnding(ending: GatewayEnding, redactor: Redactor): GatewayEnding {
  switch (ending.kind) {
    case 'refused': {
      const { call, refusal } = ending;
      return { ...ending, call: redactName(call, redactor), refusal: redactRefusal(refusal, call.resources, redactor) };
    }
    case 'completed': {
      const { outcome } = ending.call;
      if (outcome.ok) return ending;
      const failure = redactFailure(outcome.failure, redactor);
      return { ...ending, call: { ...ending.call, outcome: { ok: false, failure } } };
    }
    case 'faulted':
      // Shown by its code and the call id only.
      return { ...ending, call: redactName(ending.call, redactor) };
  }
}

/** A name that no tool has is the caller's own text. */
function redactName<Call extends Partial<Begun & Resolved>>(call: Call, redactor: Redactor): Call {
  const { tool, toolName } = call;
  return tool === undefined && toolName !== undefined ? { ...call, toolName: redactor.redactText(toolName) } : call;
}

function redactRefusal(refusal: Refusal, resources: Resources | undefined, redactor: Redactor): Refusal {
  const { message, violations } = refusal;
  const remedy = redactRemedy(refusal, resources, redactor);
  return {
    ...refusal,
    message: redactor.redactText(message),
    ...(remedy === undefined ? {} : { remedy }),
    ...(violations === undefined
      ? {}
      : {
          violations: violations.map((violation) => ({
            ...violation,
            field: redactor.redactText(violation.field),
            message: redactor.redactText(violation.message),
          })),
        }),
  };
}

function redactFailure(failure: ToolFailure, redactor: Redactor): ToolFailure {
  const { code, category } = failure;
  return new ToolFailure(code, redactor.redactText(failure.message), category === undefined ? {} : { category });
}
