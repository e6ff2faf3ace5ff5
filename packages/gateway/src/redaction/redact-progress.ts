import { RedactedStream } from './redacted-stream.ts';
import type { Redactor } from './redact.ts';
import type { Progress, RedactedProgress, AskCaller } from '../call/tool.ts';
import { cutText } from '../call/redacted.ts';
import type { RedactedJson } from '../call/redacted.ts';

/** Passes progress on without secrets. `end` lets the last line of a program go. */
export function redactProgress(
  onProgress: (progress: RedactedProgress) => void,
  redactor: Redactor,
): { readonly tell: (progress: Progress) => void; readonly end: () => void } {
  const streams = { stdout: new RedactedStream(redactor), stderr: new RedactedStream(redactor) } as const;
  const pass = (kind: keyof typeof streams, text: ReturnType<RedactedStream['end']>): void => {
    if (text !== '') onProgress({ kind, text });
  };
  return {
    tell: (progress) => {
      if (progress.kind === 'step') onProgress({ ...progress, message: redactor.redactText(progress.message) });
      else pass(progress.kind, streams[progress.kind].add(progress.text));
    },
    end: () => {
      pass('stdout', streams.stdout.end());
      pass('stderr', streams.stderr.end());
    },
  };
}

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
