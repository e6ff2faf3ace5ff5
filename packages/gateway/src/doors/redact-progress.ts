import type { Redactor } from '../audit/redact.ts';
import type { Progress } from '../model/tool.ts';

const longestLine = 8192;

/**
 * Passes progress on without secrets. What a program writes is held back until its line is whole, because half a
 * secret is not recognised as one; `end` lets the last line go.
 */
export function redactProgress(
  onProgress: (progress: Progress) => void,
  redactor: Redactor,
): { readonly tell: (progress: Progress) => void; readonly end: () => void } {
  let line = '';
  const pass = (text: string): void => {
    if (text !== '') onProgress({ kind: 'stderr', text: redactor.redactText(text) });
  };
  return {
    tell: (progress) => {
      if (progress.kind === 'step') {
        onProgress({ ...progress, message: redactor.redactText(progress.message) });
        return;
      }
      line += progress.text;
      const whole = line.length > longestLine ? line.length : line.lastIndexOf('\n') + 1;
      pass(line.slice(0, whole));
      line = line.slice(whole);
    },
    end: () => {
      pass(line);
      line = '';
    },
  };
}
