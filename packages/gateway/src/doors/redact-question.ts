import type { Json } from '@sallyport/contract';
import type { Redactor } from '../audit/redact.ts';
import type { AskCaller } from '../model/tool.ts';

/** Asks without secrets: what a tool wants to know goes to the caller like any other text of it. */
export function redactQuestions(ask: AskCaller, redactor: Pick<Redactor, 'redactText'>): AskCaller {
  const redact = (value: Json): Json => {
    if (typeof value === 'string') return redactor.redactText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(redact);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, redact(member)]));
  };
  return (question, signal) => {
    const params = redact(question.params) as typeof question.params;
    return ask({ ...question, params }, signal);
  };
}
