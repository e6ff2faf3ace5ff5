import type { GatewayEnding } from '../gateway.ts';
import type { Refusal } from '../call/refusal.ts';
import { ToolFailure } from '../call/tool.ts';

/**
 * The ending in the words for its caller. Operators read which rule stands where, and what to change. Everyone else reads
 * the reason, what they can do instead, and the call that a person can look up; never how the gate would be opened.
 */
export function addressEnding(ending: GatewayEnding): GatewayEnding {
  const isOperator = ending.call.session?.principal === 'operator';
  const callId = ending.call.callId ?? '';
  if (ending.kind === 'refused') {
    const { refusal } = ending;
    return { ...ending, refusal: isOperator ? forOperator(refusal) : forAgent(refusal, callId) };
  }
  if (ending.kind === 'faulted' || ending.call.outcome.ok) return ending;
  const { failure } = ending.call.outcome;
  if (failure.forOperators === undefined) return ending;
  const text = isOperator ? failure.textForOperators : `${failure.message} ${askPerson(callId)}`;
  const told = new ToolFailure(failure.code, text, {
    ...(failure.category === undefined ? {} : { category: failure.category }),
  });
  return { ...ending, call: { ...ending.call, outcome: { ok: false, failure: told } } };
}

/** Whom an agent can turn to, and with what. */
export function askPerson(callId: string): string {
  return `If a person should look at it, give them call ${callId}.`;
}

function forOperator({ forOperators, ...refusal }: Refusal): Refusal {
  return forOperators === undefined ? refusal : { ...refusal, remedy: forOperators };
}

function forAgent(refusal: Refusal, callId: string): Refusal {
  const { forOperators: _forOperators, ...told } = { ...refusal, rule: { id: refusal.rule.id } };
  const { remedy, approval } = told;
  // Where a task waits, a person has been asked already.
  if (approval?.taskId !== undefined || callId === '' || remedy?.endsWith(askPerson(callId))) return told;
  return { ...told, remedy: remedy === undefined ? askPerson(callId) : `${remedy} ${askPerson(callId)}` };
}
