import { describeCode } from '@sallyport/contract';
import type { Begun, Resolved } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';

type Call = Pick<Begun, 'dedupeKey'> & Resolved;

/**
 * Describes a failure after the effect may have begun: sending the call again could do it twice. For an idempotent tool
 * that does not matter.
 */
export function failBegun(failure: ToolFailure, call: Call): ToolFailure {
  if (call.tool.definition.idempotent) return failure;
  const { code, message, category, cause, forOperators } = failure;
  const options = {
    cause,
    ...(category === undefined ? {} : { category }),
    ...(forOperators === undefined ? {} : { forOperators }),
  };
  // A code that says "try again" would be wrong here.
  const honest = describeCode(code).retryable ? 'EFFECT_UNKNOWN' : code;
  return new ToolFailure(honest, `${endSentence(message)} ${explainKey(call)}`, options);
}

/** The same for a tool that refused in the middle of its work. */
export function refuseBegun(refusal: Refusal, call: Call): Refusal {
  if (call.tool.definition.idempotent) return { ...refusal, hasBegun: true };
  return { ...refusal, hasBegun: true, message: `${endSentence(refusal.message)} ${explainKey(call)}` };
}

/** Servers and programs often leave the full stop out. */
function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function explainKey({ dedupeKey }: Call): string {
  return dedupeKey === ''
    ? 'What it had done by then is not known.'
    : 'What it had done by then is not known, so its dedupe key stays taken: another call with it does not run.';
}
