import type { Redactor } from '../audit/redact.ts';
import type { GatewayEnding } from '../gateway.ts';
import type { Refusal } from '../model/refusal.ts';
import { ToolFailure } from '../model/tool.ts';

/**
 * The ending as any door may show it: no secret in the text of a refusal or an error. What a tool returned is its own;
 * an effect that waits for consent was redacted when it was put into words.
 */
export function redactEnding(ending: GatewayEnding, redactor: Redactor): GatewayEnding {
  switch (ending.kind) {
    case 'refused': {
      const { call, refusal } = ending;
      // A name that no tool has is the caller's own text.
      const { tool, toolName } = call;
      const named = tool === undefined && toolName !== undefined ? { toolName: redactor.redactText(toolName) } : {};
      return { ...ending, call: { ...call, ...named }, refusal: redactRefusal(refusal, redactor) };
    }
    case 'completed': {
      const { outcome } = ending.call;
      if (outcome.ok) return ending;
      return {
        ...ending,
        call: { ...ending.call, outcome: { ok: false, failure: redactFailure(outcome.failure, redactor) } },
      };
    }
    case 'faulted':
      // Shown by its code and the call id only.
      return ending;
  }
}

function redactRefusal(refusal: Refusal, redactor: Redactor): Refusal {
  const { message, remedy, violations } = refusal;
  return {
    ...refusal,
    message: redactor.redactText(message),
    ...(remedy === undefined ? {} : { remedy: redactor.redactText(remedy) }),
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
