import type { Redactor } from './redact.ts';
import { cutText } from '../call/redacted.ts';
import type { RedactedJson } from '../call/redacted.ts';
import type { AskCaller } from '../call/tool.ts';

/** What a person is asked stays short. */
const longestMessage = 2100;

/** Asks without secrets: what a tool wants to know goes to the caller like any other text of it. */
export function redactQuestions(ask: AskCaller, redactor: Pick<Redactor, 'redactTexts'>): AskCaller {
  return (question, signal) => {
    const params = redactor.redactTexts(question.params) as Readonly<Record<string, RedactedJson>>;
    const { message } = params;
    const short = typeof message === 'string' ? { message: cutText(message, longestMessage) } : {};
    return ask({ ...question, params: { ...params, ...short } }, signal);
  };
}
