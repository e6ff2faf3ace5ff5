import type { Answer } from '../call/answer.ts';
import type { CallEnding } from '../call/stage.ts';
import { Redactor } from '../redaction/redact.ts';
import { answerCall } from './answer-call.ts';

const redactor = new Redactor();

/** The answer to an ending that a test made up. Where it names no session, an operator called. */
export function answerOf(ending: object, endedAtMs = Date.now()): Answer {
  const { call } = ending as CallEnding;
  const named = { ...ending, call: { session: { principal: 'operator' }, ...call } } as CallEnding;
  return answerCall(named, redactor, endedAtMs);
}
