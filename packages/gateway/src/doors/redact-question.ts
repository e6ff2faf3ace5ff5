import type { Json } from '@sallyport/contract';
import type { Redactor } from '../audit/redact.ts';
import { cutText } from '../model/redacted.ts';
import type { RedactedJson } from '../model/redacted.ts';
import type { AskCaller } from '../model/tool.ts';

/** What a person is asked stays short. */
const longestMessage = 2100;

/** Asks without secrets: what a tool wants to know goes to the caller like any other text of it. */
export function redactQuestions(ask: AskCaller, { redactText }: Pick<Redactor, 'redactText'>): AskCaller {
  const redact = (value: Json): RedactedJson => {
    if (typeof value === 'string') return redactText(value);
    if (typeof value !== 'object' || value === null) return value;
    return Array.isArray(value) ? value.map(redact) : redactMembers(value);
  };
  const redactMembers = (value: object): { readonly [key: string]: RedactedJson } =>
    Object.fromEntries(Object.entries(value).map(([key, member]) => [redactText(key), redact(member as Json)]));
  return (question, signal) => {
    const params = redactMembers(question.params);
    const { message } = params;
    const short = typeof message === 'string' ? { message: cutText(message, longestMessage) } : {};
    return ask({ ...question, params: { ...params, ...short } }, signal);
  };
}
