import { RedactedStream } from './redacted-stream.ts';
import type { Redactor } from './redact.ts';
import type { Progress, RedactedProgress } from '../call/tool.ts';

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
